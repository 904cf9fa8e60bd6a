// A cipher with key-dependent S-boxes, which are made by running it, as Blowfish's are; the boxes are smaller.
// words: 4 6
// run: private u32 1x4
// run: local u32 1x4
#define WORKS 1
typedef struct {
    u32 p[18];
    u32 s[4][16];
} work_t;

static void encrypt(MEM const work_t *w, u32 *left, u32 *right) {
    u32 l = *left, r = *right;
    for (int i = 0; i < 16; i++) {
        l ^= w->p[i];
        u32 f = w->s[0][l >> 28] + w->s[1][l >> 20 & 15];
        f = (f ^ w->s[2][l >> 12 & 15]) + w->s[3][l & 15];
        r ^= f << 5 | f >> 27;
        u32 t = l;
        l = r;
        r = t;
    }
    *left = r ^ w->p[17];
    *right = l ^ w->p[16];
}

static void program(IN in, OUT out, MEM work_t *w) {
    u32 x = 0x243f6a88u, l = 0, r = 0;
    for (int i = 0; i < 18; i++) {
        w->p[i] = x ^ in[i % 4];
        x = x * 1664525u + 1013904223u;
    }
    for (int i = 0; i < 64; i++) {
        w->s[i / 16][i % 16] = x ^ x >> 15;
        x = x * 1664525u + 1013904223u;
    }
    for (int i = 0; i < 18; i += 2) {
        encrypt(w, &l, &r);
        w->p[i] = l;
        w->p[i + 1] = r;
    }
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 16; i += 2) {
            encrypt(w, &l, &r);
            w->s[b][i] = l;
            w->s[b][i + 1] = r;
        }
    for (int i = 0; i < 3; i++) {
        l = in[i];
        r = in[i + 1];
        encrypt(w, &l, &r);
        out[2 * i] = l;
        out[2 * i + 1] = r;
    }
}
