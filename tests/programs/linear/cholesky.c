// Cholesky factors of a positive matrix, and a solution.
// words: 30 20
// run: private f32 1x8
// run: local f32 1x8
// run: global f64 1x2
// tolerance: 0.001 0.001
#define WORKS 25
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    element b[5];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            element sum = i == j ? 2 : 0;
            for (int k = 0; k < 5; k++)
                sum += ELEMENT_OF(in[5 * i + k] >> 1) / 512 * (ELEMENT_OF(in[5 * j + k] >> 1) / 512);
            a[5 * i + j] = sum;
        }
    for (int j = 0; j < 5; j++) {
        for (int k = 0; k < j; k++)
            a[6 * j] -= a[5 * j + k] * a[5 * j + k];
        a[6 * j] = sqrt(a[6 * j]);
        for (int i = j + 1; i < 5; i++) {
            for (int k = 0; k < j; k++)
                a[5 * i + j] -= a[5 * i + k] * a[5 * j + k];
            a[5 * i + j] /= a[6 * j];
        }
    }
    for (int i = 0; i < 5; i++) {
        b[i] = ELEMENT_OF(in[25 + i]) / 128;
        for (int k = 0; k < i; k++)
            b[i] -= a[5 * i + k] * b[k];
        b[i] /= a[6 * i];
    }
    for (int i = 4; i >= 0; i--) {
        for (int k = i + 1; k < 5; k++)
            b[i] -= a[5 * k + i] * b[k];
        b[i] /= a[6 * i];
    }
    int at = 0;
    for (int i = 0; i < 5; i++) {
        out[at++] = WORD_OF(b[i]);
        for (int j = 0; j <= i; j++)
            out[at++] = WORD_OF(a[5 * i + j]);
    }
}
