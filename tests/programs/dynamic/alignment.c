// Local alignment of two sequences with affine gaps, in three rows.
// words: 40 6
// run: private i16 1x8
// run: global i32 1x4
#define WORKS 1
typedef struct {
    element match[21], gap[21];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int best = 0, best_i = 0, best_j = 0;
    u32 check = 0;
    for (int j = 0; j <= 20; j++) {
        w->match[j] = 0;
        w->gap[j] = -100;
    }
    for (int i = 1; i <= 20; i++) {
        int diagonal = 0, across = -100;
        for (int j = 1; j <= 20; j++) {
            const int score = (in[i - 1] & 3) == (in[19 + j] & 3) ? 5 : -3;
            w->gap[j] = (element)MAX(w->gap[j] - 1, w->match[j] - 4);
            across = MAX(across - 1, w->match[j - 1] - 4);
            int h = diagonal + score;
            diagonal = w->match[j];
            if (h < 0)
                h = 0;
            if (h < w->gap[j])
                h = w->gap[j];
            if (h < across)
                h = across;
            w->match[j] = (element)h;
            check = check * 17 + (u32)h;
            if (h > best) {
                best = h;
                best_i = i;
                best_j = j;
            }
        }
    }
    out[0] = (u32)best;
    out[1] = (u32)best_i;
    out[2] = (u32)best_j;
    out[3] = check;
    out[4] = (u32)(i32)w->match[20];
    out[5] = (u32)(i32)w->gap[20];
}
