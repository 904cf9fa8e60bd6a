// The best order to multiply matrices, and how it splits.
// words: 9 10
// run: private u32 1x16
// run: local u32 1x4
// run: global f32 2x2
#define WORKS 1
typedef struct {
    element cost[8][8];
    u8 split[8][8];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            w->cost[i][j] = 0;
            w->split[i][j] = 0;
        }
    for (int length = 2; length <= 8; length++) {
        for (int i = 0; i + length <= 8; i++) {
            const int j = i + length - 1;
            element best = 1000000;
            for (int k = i; k < j; k++) {
                const element cost =
                    w->cost[i][k] + w->cost[k + 1][j] + (element)((in[i] % 30 + 1) * (in[k + 1] % 30 + 1) * (in[j + 1] % 30 + 1));
                if (cost >= best)
                    continue;
                best = cost;
                w->split[i][j] = (u8)k;
            }
            w->cost[i][j] = best;
        }
    }
    u32 splits = 0;
    for (int i = 0; i < 8; i++) {
        out[i] = WORD_OF(w->cost[0][i]);
        for (int j = i + 1; j < 8; j++)
            splits = splits * 7 + w->split[i][j];
    }
    out[8] = splits;
    out[9] = w->split[0][7];
}
