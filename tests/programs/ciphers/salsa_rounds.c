// Salsa20's rounds by rows and columns with computed indices.
// words: 16 16
// run: private u32 1x8
// run: global u32 2x4
#define WORKS 16
typedef u32 work_t;

static void quarter(MEM u32 *x, int first, int step, int row) {
    int at[4];
    for (int i = 0; i < 4; i++)
        at[i] = row ? first * 4 + (first + i) % 4 : (first + (first + i) * step) % 16;
    for (int i = 0; i < 4; i++) {
        const u32 t = x[at[i]] + x[at[(i + 3) % 4]];
        const int turn = i == 0 ? 7 : i == 1 ? 9 : i == 2 ? 13 : 18;
        x[at[(i + 1) % 4]] ^= t << turn | t >> (32 - turn);
    }
}

static void program(IN in, OUT out, MEM work_t *x) {
    for (int i = 0; i < 16; i++)
        x[i] = in[i];
    for (int r = 0; r < 8; r++)
        for (int i = 0; i < 4; i++)
            quarter(x, i, 4, r & 1);
    for (int i = 0; i < 16; i++)
        out[i] = x[i] + in[i];
}
