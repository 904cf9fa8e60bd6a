// Euler's phi by factors, the Chinese remainder theorem, Jacobi symbols and Collatz lengths.
// words: 8 24
// run: private u32 1x16
// run: local u32 1x4
#define WORKS 12
typedef u32 work_t;

static int jacobi(u32 a, u32 n) {
    int sign = 1;
    a %= n;
    while (a) {
        while (!(a & 1)) {
            a >>= 1;
            if ((n & 7) == 3 || (n & 7) == 5)
                sign = -sign;
        }
        const u32 t = a;
        a = n;
        n = t;
        if ((a & 3) == 3 && (n & 3) == 3)
            sign = -sign;
        a %= n;
    }
    return n == 1 ? sign : 0;
}

static void program(IN in, OUT out, MEM work_t *factors) {
    for (int i = 0; i < 8; i++) {
        u32 n = in[i] % 100000 + 2, phi = n;
        int count = 0;
        for (u32 p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
            if (n % p)
                continue;
            factors[count++] = p;
            do
                n /= p;
            while (n % p == 0);
        }
        if (n > 1)
            factors[count++] = n;
        for (int k = 0; k < count; k++)
            phi = phi / factors[k] * (factors[k] - 1);
        out[3 * i] = phi;
        out[3 * i + 1] = (u32)jacobi(in[i] >> 3, in[(i + 1) % 8] % 9999 | 1);
        u32 length = 0;
        for (u64 x = in[i] % 1000 + 1; x != 1; length++)
            x = x & 1 ? 3 * x + 1 : x >> 1;
        out[3 * i + 2] = length;
    }
}
