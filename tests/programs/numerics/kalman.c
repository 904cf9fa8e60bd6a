// A Kalman filter of position and speed.
// words: 24 48
// run: private f32 1x16
// run: local f32 1x8
// run: global f64 1x2
// tolerance: 0.001 0.01
#define WORKS 1
typedef struct {
    element x[2], p[2][2];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    const element q = (element)0.01f, r = 4;
    w->x[0] = w->x[1] = 0;
    w->p[0][0] = w->p[1][1] = 10;
    w->p[0][1] = w->p[1][0] = 0;
    for (int n = 0; n < 24; n++) {
        const element measured = (element)n * (element)1.5f + (element)((int)(in[n] % 200) - 100) / 32;
        w->x[0] += w->x[1];
        const element p00 = w->p[0][0] + w->p[0][1] + w->p[1][0] + w->p[1][1] + q;
        const element p01 = w->p[0][1] + w->p[1][1], p10 = w->p[1][0] + w->p[1][1], p11 = w->p[1][1] + q;
        const element k0 = p00 / (p00 + r), k1 = p10 / (p00 + r), error = measured - w->x[0];
        w->x[0] += k0 * error;
        w->x[1] += k1 * error;
        w->p[0][0] = (1 - k0) * p00;
        w->p[0][1] = (1 - k0) * p01;
        w->p[1][0] = p10 - k1 * p00;
        w->p[1][1] = p11 - k1 * p01;
        out[2 * n] = WORD_OF(w->x[0]);
        out[2 * n + 1] = WORD_OF(w->x[1]);
    }
}
