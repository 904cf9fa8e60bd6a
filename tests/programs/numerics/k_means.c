// Clusters of points with whole coordinates.
// words: 32 45
// run: private i32 1x8
// run: local i16 1x8
// run: global f32 1x4
#define WORKS 1
typedef struct {
    element x[32], y[32], cx[4], cy[4];
    u8 cluster[32];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 32; i++) {
        w->x[i] = (element)(in[i] & 63);
        w->y[i] = (element)(in[i] >> 8 & 63);
        w->cluster[i] = 9;
    }
    for (int k = 0; k < 4; k++) {
        w->cx[k] = w->x[k];
        w->cy[k] = w->y[k];
    }
    int moved, passes = 0;
    do {
        moved = 0;
        for (int i = 0; i < 32; i++) {
            int best = 0;
            element least = 32000;
            for (int k = 0; k < 4; k++) {
                const element dx = w->x[i] - w->cx[k], dy = w->y[i] - w->cy[k], d = dx * dx + dy * dy;
                if (d < least) {
                    least = d;
                    best = k;
                }
            }
            if (best != w->cluster[i]) {
                w->cluster[i] = (u8)best;
                moved++;
            }
        }
        for (int k = 0; k < 4; k++) {
            int x = 0, y = 0, count = 0;
            for (int i = 0; i < 32; i++) {
                if (w->cluster[i] != k)
                    continue;
                x += (int)w->x[i];
                y += (int)w->y[i];
                count++;
            }
            if (!count)
                continue;
            w->cx[k] = (element)(x / count);
            w->cy[k] = (element)(y / count);
        }
    } while (moved && ++passes < 10);
    for (int i = 0; i < 32; i++)
        out[i] = w->cluster[i];
    for (int k = 0; k < 4; k++) {
        out[32 + k] = WORD_OF(w->cx[k]);
        out[36 + k] = WORD_OF(w->cy[k]);
    }
    out[40] = (u32)passes;
    for (int i = 41; i < 45; i++)
        out[i] = 0;
}
