// Conjugate gradients for a system with a known matrix.
// words: 8 9
// run: private f32 1x8
// run: global f64 1x4
// tolerance: 0.002 0.002
#define WORKS 1
typedef struct {
    element x[8], r[8], p[8], q[8];
} work_t;

static element dot(MEM const element *a, MEM const element *b) {
    element sum = 0;
    for (int i = 0; i < 8; i++)
        sum += a[i] * b[i];
    return sum;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++) {
        w->x[i] = 0;
        w->r[i] = w->p[i] = ELEMENT_OF(in[i]) / 64;
    }
    element square = dot(w->r, w->r);
    for (int step = 0; step < 8 && square > (element)1e-3f; step++) {
        for (int i = 0; i < 8; i++) {
            w->q[i] = 5 * w->p[i];
            if (i > 0)
                w->q[i] -= w->p[i - 1];
            if (i < 7)
                w->q[i] -= w->p[i + 1];
        }
        const element alpha = square / dot(w->p, w->q);
        for (int i = 0; i < 8; i++) {
            w->x[i] += alpha * w->p[i];
            w->r[i] -= alpha * w->q[i];
        }
        const element next = dot(w->r, w->r), beta = next / square;
        square = next;
        for (int i = 0; i < 8; i++)
            w->p[i] = w->r[i] + beta * w->p[i];
    }
    for (int i = 0; i < 8; i++)
        out[i] = WORD_OF(w->x[i]);
    out[8] = WORD_OF(square > (element)1e-3f ? (element)1 : (element)0);
}
