// The rounds of SHA-512 over one block, with round constants from a generator.
// words: 32 16
// run: private u32 1x8
// run: local u32 1x8
#define WORKS 16
typedef u64 work_t;

static u64 right(u64 x, int n) { return x >> n | x << (64 - n); }

static void program(IN in, OUT out, MEM work_t *w) {
    u64 s[8], k = 0x428a2f98d728ae22UL;
    for (int i = 0; i < 16; i++)
        w[i] = (u64)in[2 * i] << 32 | in[2 * i + 1];
    for (int i = 0; i < 8; i++)
        s[i] = 0x6a09e667f3bcc908UL * (u64)(2 * i + 1);
    for (int i = 0; i < 80; i++) {
        if (i >= 16) {
            const u64 a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += (right(a, 1) ^ right(a, 8) ^ a >> 7) + w[(i + 9) & 15] + (right(b, 19) ^ right(b, 61) ^ b >> 6);
        }
        const u64 t1 = s[7] + (right(s[4], 14) ^ right(s[4], 18) ^ right(s[4], 41)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k +
                       w[i & 15];
        const u64 t2 =
            (right(s[0], 28) ^ right(s[0], 34) ^ right(s[0], 39)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
        k = k * 6364136223846793005UL + 1442695040888963407UL;
    }
    for (int i = 0; i < 8; i++) {
        out[2 * i] = (u32)(s[i] >> 32);
        out[2 * i + 1] = (u32)s[i];
    }
}
