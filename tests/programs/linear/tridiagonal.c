// A tridiagonal system by Thomas, and a check of it.
// words: 32 24
// run: private f32 1x16
// run: local f32 1x8
// run: global f64 2x2
// tolerance: 0.0002 0.0002
#define WORKS 1
typedef struct {
    element upper[12], right[12], x[12];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 12; i++) {
        const element low = i == 0 ? 0 : (element)(in[i] % 8) / 8, high = (element)(in[12 + i] % 8) / 8;
        const element diagonal = 3 + (element)(in[i] >> 8 & 7) / 8, right = (element)(in[20 + i] % 100) / 10;
        const element m = i == 0 ? diagonal : diagonal - low * w->upper[i - 1];
        w->upper[i] = high / m;
        w->right[i] = (right - (i == 0 ? 0 : low * w->right[i - 1])) / m;
    }
    w->x[11] = w->right[11];
    for (int i = 10; i >= 0; i--)
        w->x[i] = w->right[i] - w->upper[i] * w->x[i + 1];
    for (int i = 0; i < 12; i++) {
        const element low = i == 0 ? 0 : (element)(in[i] % 8) / 8, high = (element)(in[12 + i] % 8) / 8;
        const element diagonal = 3 + (element)(in[i] >> 8 & 7) / 8;
        element sum = diagonal * w->x[i];
        if (i > 0)
            sum += low * w->x[i - 1];
        if (i < 11)
            sum += high * w->x[i + 1];
        out[i] = WORD_OF(w->x[i]);
        out[12 + i] = WORD_OF(sum);
    }
}
