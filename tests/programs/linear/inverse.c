// The inverse of a matrix by Gauss and Jordan, beside a unit matrix, and its product with the matrix.
// words: 16 32
// run: private f32 1x8
// run: local f32 1x8
// tolerance: 0.002 0.002
#define WORKS 1
typedef struct {
    element m[4][8];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            w->m[i][j] = j >= 4 ? (j - 4 == i) : (i == j ? 5 : 0) + ELEMENT_OF(in[4 * i + j] >> 1) / 256;
    for (int k = 0; k < 4; k++) {
        const element pivot = w->m[k][k];
        for (int j = 0; j < 8; j++)
            w->m[k][j] /= pivot;
        for (int i = 0; i < 4; i++) {
            if (i == k)
                continue;
            const element factor = w->m[i][k];
            if (factor == 0)
                continue;
            for (int j = k; j < 8; j++)
                w->m[i][j] -= factor * w->m[k][j];
        }
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            element sum = 0;
            for (int k = 0; k < 4; k++)
                sum += w->m[i][4 + k] * ((k == j ? 5 : 0) + ELEMENT_OF(in[4 * k + j] >> 1) / 256);
            out[4 * i + j] = WORD_OF(w->m[i][4 + j]);
            out[16 + 4 * i + j] = WORD_OF(sum);
        }
}
