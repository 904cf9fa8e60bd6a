// SHA-1 of one block, with a window of 16 words.
// words: 14 5
// run: private u32 1x16
// run: local u32 2x8
#define WORKS 16
typedef u32 work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    u32 h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (int i = 0; i < 13; i++)
        w[i] = in[i];
    w[13] = 0x80000000u;
    w[14] = 0;
    w[15] = 13 * 32;
    u32 a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 80; i++) {
        u32 f, k;
        if (i >= 16) {
            const u32 x = w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15];
            w[i & 15] = ROTL32(x, 1);
        }
        if (i < 20)
            f = (b & c) | (~b & d), k = 0x5a827999;
        else if (i < 40)
            f = b ^ c ^ d, k = 0x6ed9eba1;
        else if (i < 60)
            f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        else
            f = b ^ c ^ d, k = 0xca62c1d6;
        const u32 t = ROTL32(a, 5) + f + e + k + w[i & 15];
        e = d;
        d = c;
        c = ROTL32(b, 30);
        b = a;
        a = t;
    }
    out[0] = h[0] + a;
    out[1] = h[1] + b;
    out[2] = h[2] + c;
    out[3] = h[3] + d;
    out[4] = h[4] + e;
}
