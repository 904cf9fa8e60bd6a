// Greatest common divisors three ways, the extended one with signs, and inverses modulo a prime.
// words: 8 12
// run: private i32 1x16
// run: global i64 1x8
#define WORKS 4
typedef element work_t;

static u32 gcd(u32 a, u32 b) {
    while (b) {
        const u32 t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static u32 binary_gcd(u32 a, u32 b) {
    if (!a || !b)
        return a | b;
    int twos = 0;
    for (; !((a | b) & 1); twos++) {
        a >>= 1;
        b >>= 1;
    }
    while (!(a & 1))
        a >>= 1;
    do {
        while (!(b & 1))
            b >>= 1;
        if (a > b) {
            const u32 t = a;
            a = b;
            b = t;
        }
        b -= a;
    } while (b);
    return a << twos;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 4; i++) {
        const u32 common = in[i] % 97 + 1, a = (in[i] >> 12) * common % 10000000u, b = in[i + 4] % 1000000u * common;
        out[3 * i] = gcd(a, b);
        out[3 * i + 1] = binary_gcd(a, b);
        element r0 = (element)(in[i] % 30000 + 1), r1 = 30011;
        w[0] = 1, w[1] = 0;
        while (r1 != 0) {
            const element q = r0 / r1, t = r0 - q * r1, s = w[0] - q * w[1];
            r0 = r1;
            r1 = t;
            w[0] = w[1];
            w[1] = s;
        }
        element inverse = w[0] % 30011;
        if (inverse < 0)
            inverse += 30011;
        out[3 * i + 2] = WORD_OF(inverse);
    }
}
