// The compression of BLAKE2s.
// words: 16 8
// run: private u32 1x8
// run: local u32 2x4
#define WORKS 1
typedef struct {
    u32 m[16], v[16], h[8];
} work_t;

TABLE(u8) sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
TABLE(u32) start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static void mix(MEM u32 *a, MEM u32 *b, MEM u32 *c, MEM u32 *d, u32 x, u32 y) {
    *a += *b + x;
    *d = ROTR32(*d ^ *a, 16);
    *c += *d;
    *b = ROTR32(*b ^ *c, 12);
    *a += *b + y;
    *d = ROTR32(*d ^ *a, 8);
    *c += *d;
    *b = ROTR32(*b ^ *c, 7);
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++) {
        w->h[i] = start[i] ^ (i == 0 ? 0x01010020u : 0);
        w->v[i] = w->h[i];
        w->v[i + 8] = start[i];
    }
    for (int i = 0; i < 16; i++)
        w->m[i] = in[i];
    w->v[12] ^= 64;
    w->v[14] = ~w->v[14];
    for (int r = 0; r < 10; r++) {
        for (int i = 0; i < 8; i++) {
            const int column = i & 3, shift = i >= 4;
            MEM u32 *v = w->v;
            mix(v + column, v + 4 + ((column + shift) & 3), v + 8 + ((column + 2 * shift) & 3),
                v + 12 + ((column + 3 * shift) & 3), w->m[sigma[r][2 * i]], w->m[sigma[r][2 * i + 1]]);
        }
    }
    for (int i = 0; i < 8; i++)
        out[i] = w->h[i] ^ w->v[i] ^ w->v[i + 8];
}
