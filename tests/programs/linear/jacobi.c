// Eigenvalues of a symmetric matrix by Jacobi's rotations.
// words: 10 4
// run: private f32 1x8
// run: global f32 1x4
// tolerance: 0.001 0.001
#define WORKS 16
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    int at = 0;
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++) {
            const element x = ELEMENT_OF(in[at++] >> 1) / 256;
            a[4 * i + j] = x + (i == j ? (element)(10 * i) : 0);
            a[4 * j + i] = a[4 * i + j];
        }
    for (int sweep = 0; sweep < 8; sweep++)
        for (int p = 0; p < 3; p++)
            for (int q = p + 1; q < 4; q++) {
                const element off = a[4 * p + q];
                if (fabs(off) < (element)1e-7f)
                    continue;
                const element theta = (a[5 * q] - a[5 * p]) / (2 * off);
                const element t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const element c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 4; k++) {
                    const element x = a[4 * k + p], y = a[4 * k + q];
                    a[4 * k + p] = c * x - s * y;
                    a[4 * k + q] = s * x + c * y;
                }
                for (int k = 0; k < 4; k++) {
                    const element x = a[4 * p + k], y = a[4 * q + k];
                    a[4 * p + k] = c * x - s * y;
                    a[4 * q + k] = s * x + c * y;
                }
            }
    for (int i = 0; i < 4; i++)
        out[i] = WORD_OF(a[5 * i]);
}
