// Powers modulo numbers of 32 bits, and Miller and Rabin's test.
// words: 6 6
// run: private u32 1x16
// run: local u64 1x8
#define WORKS 8
typedef element work_t;

static u32 power(u32 base, u32 exponent, u32 modulus) {
    u64 result = 1, x = base % modulus;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * x % modulus;
        x = x * x % modulus;
    }
    return (u32)result;
}

static int is_prime(u32 n, MEM const element *witnesses) {
    if (n < 2 || n % 2 == 0)
        return n == 2;
    u32 d = n - 1;
    int twos = 0;
    while (!(d & 1)) {
        d >>= 1;
        twos++;
    }
    for (int i = 0; i < 3; i++) {
        const u32 a = (u32)witnesses[i];
        if (a % n == 0)
            continue;
        u64 x = power(a, d, n);
        if (x == 1 || x == n - 1)
            continue;
        int k = 1;
        for (; k < twos; k++) {
            x = x * x % n;
            if (x == n - 1)
                break;
        }
        if (k >= twos)
            return 0;
    }
    return 1;
}

static void program(IN in, OUT out, MEM work_t *w) {
    w[0] = 2, w[1] = 7, w[2] = 61;
    for (int i = 0; i < 2; i++)
        out[i] = power(in[i], in[i + 1], in[i + 2] | 1);
    for (int i = 2; i < 6; i++) {
        u32 n = i == 2 ? 2147483647u : i == 3 ? 3215031751u : in[i] >> (i * 3) | 1;
        int steps = 0;
        while (!is_prime(n, w)) {
            n += 2;
            if (++steps == 20)
                break;
        }
        out[i] = n;
    }
}
