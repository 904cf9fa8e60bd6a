// QR by Householder reflections.
// words: 25 25
// run: private f32 1x8
// run: global f32 1x4
// run: private f64 1x4
// tolerance: 0.002 0.002
#define WORKS 25
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    element v[5];
    for (int i = 0; i < 25; i++)
        a[i] = ELEMENT_OF(in[i] >> 1) / 256 + (i % 6 == 0 ? 3 : 0);
    for (int k = 0; k < 4; k++) {
        element norm = 0;
        for (int i = k; i < 5; i++)
            norm += a[5 * i + k] * a[5 * i + k];
        norm = sqrt(norm);
        if (norm == 0)
            continue;
        const element alpha = a[6 * k] > 0 ? -norm : norm;
        element square = 0;
        for (int i = k; i < 5; i++) {
            v[i] = a[5 * i + k] - (i == k ? alpha : 0);
            square += v[i] * v[i];
        }
        for (int j = k; j < 5; j++) {
            element dot = 0;
            for (int i = k; i < 5; i++)
                dot += v[i] * a[5 * i + j];
            const element factor = 2 * dot / square;
            for (int i = k; i < 5; i++)
                a[5 * i + j] -= factor * v[i];
        }
    }
    for (int i = 0; i < 25; i++)
        out[i] = WORD_OF(a[i]);
}
