// Polynomials multiplied by a transform modulo 998244353, and by hand.
// words: 16 32
// run: private u32 1x8
// run: local u32 1x8
#define WORKS 32
typedef u32 work_t;

#define MODULUS 998244353u

static u32 times(u32 a, u32 b) { return (u32)((u64)a * b % MODULUS); }

static u32 power(u32 x, u32 n) {
    u32 y = 1;
    while (n) {
        if (n & 1)
            y = times(y, x);
        x = times(x, x);
        n >>= 1;
    }
    return y;
}

static void transform(MEM u32 *a, u32 root) {
    for (int length = 16; length > 1; length /= 2) {
        const u32 step = power(root, (u32)(16 / length));
        for (int start = 0; start < 16; start += length) {
            u32 turn = 1;
            for (int i = start; i < start + length / 2; i++) {
                const u32 x = a[i], y = a[i + length / 2];
                a[i] = x + y >= MODULUS ? x + y - MODULUS : x + y;
                a[i + length / 2] = times(x >= y ? x - y : x - y + MODULUS, turn);
                turn = times(turn, step);
            }
        }
    }
    for (u32 i = 0, j = 0; i < 16; i++) {
        if (i < j) {
            const u32 t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
        u32 bit = 8;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
    }
}

static void program(IN in, OUT out, MEM work_t *a) {
    MEM u32 *b = a + 16;
    const u32 root = power(3, (MODULUS - 1) / 16);
    for (int i = 0; i < 16; i++) {
        a[i] = i < 8 ? in[i] % MODULUS : 0;
        b[i] = i < 8 ? in[8 + i] % MODULUS : 0;
    }
    transform(a, root);
    transform(b, root);
    for (int i = 0; i < 16; i++)
        a[i] = times(a[i], b[i]);
    transform(a, power(root, MODULUS - 2));
    const u32 scale = power(16, MODULUS - 2);
    for (int k = 0; k < 16; k++) {
        u32 sum = 0;
        for (int i = 0; i < 8; i++)
            if (k - i >= 0 && k - i < 8)
                sum = (u32)((sum + (u64)(in[i] % MODULUS) * (in[8 + k - i] % MODULUS)) % MODULUS);
        out[k] = times(a[k], scale);
        out[16 + k] = sum;
    }
}
