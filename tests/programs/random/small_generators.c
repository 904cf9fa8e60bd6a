// Xorshift, PCG, SplitMix, xoshiro, linear congruence, multiply with carry, and middle square, side by side.
// words: 4 28
// run: private u32 1x16
// run: local u64 1x8
#define WORKS 4
typedef u64 work_t;

static u64 left(u64 x, int n) { return x << n | x >> (64 - n); }

static void program(IN in, OUT out, MEM work_t *s) {
    u32 xorshift = in[0] | 1, lcg = in[1], carry = 1, x = in[3];
    u64 pcg = (u64)in[1] << 32 | in[2], split = (u64)in[0] << 32 | in[3], square = 0, weyl = 0;
    for (int i = 0; i < 4; i++) {
        split += 0x9e3779b97f4a7c15UL;
        u64 z = (split ^ split >> 30) * 0xbf58476d1ce4e5b9UL;
        z = (z ^ z >> 27) * 0x94d049bb133111ebUL;
        s[i] = z ^ z >> 31;
    }
    for (int n = 0; n < 4; n++) {
        xorshift ^= xorshift << 13;
        xorshift ^= xorshift >> 17;
        xorshift ^= xorshift << 5;
        out[7 * n] = xorshift;
        const u64 old = pcg;
        pcg = pcg * 6364136223846793005UL + 1442695040888963407UL;
        const u32 mixed = (u32)((old >> 18 ^ old) >> 27), turn = (u32)(old >> 59);
        out[7 * n + 1] = mixed >> turn | mixed << ((0 - turn) & 31);
        const u64 result = left(s[1] * 5, 7) * 9, t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = left(s[3], 45);
        out[7 * n + 2] = (u32)(result >> 32);
        out[7 * n + 3] = (u32)s[n];
        lcg = lcg * 1664525u + 1013904223u;
        out[7 * n + 4] = lcg;
        const u64 product = (u64)x * 4294957665u + carry;
        x = (u32)product;
        carry = (u32)(product >> 32);
        out[7 * n + 5] = x ^ carry;
        square *= square;
        square += weyl += 0xb5ad4eceda1ce2a9UL;
        square = left(square, 32);
        out[7 * n + 6] = (u32)square;
    }
}
