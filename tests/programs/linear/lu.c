// LU factors with pivots, a solution and a determinant.
// words: 42 8
// run: private f32 1x8
// run: local f32 1x4
// run: global f64 1x4
// tolerance: 0.001 0.001
#define WORKS 1
typedef struct {
    element a[6][6], x[6];
    u8 order[6];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    element determinant = 1;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++)
            w->a[i][j] = ELEMENT_OF(in[6 * i + j] >> 1) / 256 + (i == j ? 4 : 0);
        w->order[i] = (u8)i;
    }
    for (int k = 0; k < 6; k++) {
        int pivot = k;
        for (int i = k + 1; i < 6; i++)
            if (fabs(w->a[i][k]) > fabs(w->a[pivot][k]))
                pivot = i;
        if (pivot != k) {
            for (int j = 0; j < 6; j++) {
                const element t = w->a[k][j];
                w->a[k][j] = w->a[pivot][j];
                w->a[pivot][j] = t;
            }
            const u8 t = w->order[k];
            w->order[k] = w->order[pivot];
            w->order[pivot] = t;
            determinant = -determinant;
        }
        determinant *= w->a[k][k];
        for (int i = k + 1; i < 6; i++) {
            w->a[i][k] /= w->a[k][k];
            for (int j = k + 1; j < 6; j++)
                w->a[i][j] -= w->a[i][k] * w->a[k][j];
        }
    }
    for (int i = 0; i < 6; i++) {
        w->x[i] = ELEMENT_OF(in[36 + w->order[i]]) / 64;
        for (int j = 0; j < i; j++)
            w->x[i] -= w->a[i][j] * w->x[j];
    }
    for (int i = 5; i >= 0; i--) {
        for (int j = i + 1; j < 6; j++)
            w->x[i] -= w->a[i][j] * w->x[j];
        w->x[i] /= w->a[i][i];
    }
    for (int i = 0; i < 6; i++)
        out[i] = WORD_OF(w->x[i]);
    out[6] = WORD_OF(determinant);
    out[7] = WORD_OF((element)w->order[0]);
}
