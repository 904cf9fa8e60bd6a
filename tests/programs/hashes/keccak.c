// The permutation Keccak-f[1600].
// words: 34 10
// run: private u32 1x8
// run: global u32 2x2
#define WORKS 25
typedef u64 work_t;

TABLE(u8) turns[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
TABLE(u8) lanes[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

static u64 left(u64 x, int n) { return x << n | x >> (64 - n); }

static void program(IN in, OUT out, MEM work_t *s) {
    u8 lfsr = 1;
    for (int i = 0; i < 25; i++)
        s[i] = i < 17 ? (u64)in[2 * i + 1] << 32 | in[2 * i] : 0;
    for (int r = 0; r < 24; r++) {
        u64 c[5];
        for (int x = 0; x < 5; x++)
            c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
        for (int x = 0; x < 5; x++) {
            const u64 d = c[(x + 4) % 5] ^ left(c[(x + 1) % 5], 1);
            for (int y = 0; y < 25; y += 5)
                s[y + x] ^= d;
        }
        u64 moved = s[1];
        for (int i = 0; i < 24; i++) {
            const u64 t = s[lanes[i]];
            s[lanes[i]] = left(moved, turns[i]);
            moved = t;
        }
        for (int y = 0; y < 25; y += 5) {
            for (int x = 0; x < 5; x++)
                c[x] = s[y + x];
            for (int x = 0; x < 5; x++)
                s[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
        }
        for (int j = 0; j < 7; j++) {
            if (lfsr & 1)
                s[0] ^= (u64)1 << ((1 << j) - 1);
            lfsr = (u8)(lfsr << 1 ^ (lfsr >> 7) * 0x71);
        }
    }
    for (int i = 0; i < 5; i++) {
        out[2 * i] = (u32)s[i];
        out[2 * i + 1] = (u32)(s[i] >> 32);
    }
}
