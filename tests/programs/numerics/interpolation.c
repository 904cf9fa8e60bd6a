// Lagrange, Newton's differences, a cubic spline, Horner and Chebyshev.
// words: 8 20
// run: private f32 1x16
// run: global f64 1x2
// tolerance: 0.002 0.01
#define WORKS 1
typedef struct {
    element y[6], difference[6], second[6], u[6];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 6; i++) {
        w->y[i] = (element)(in[i] % 100) / 10;
        w->difference[i] = w->y[i];
    }
    for (int k = 1; k < 6; k++)
        for (int i = 5; i >= k; i--)
            w->difference[i] = (w->difference[i] - w->difference[i - 1]) / (element)k;
    w->second[0] = w->u[0] = 0;
    for (int i = 1; i < 5; i++) {
        const element p = w->second[i - 1] / 2 + 2;
        w->second[i] = (element)-0.5f / p;
        w->u[i] = (3 * (w->y[i + 1] - 2 * w->y[i] + w->y[i - 1]) - w->u[i - 1] / 2) / p;
    }
    w->second[5] = 0;
    for (int i = 4; i >= 0; i--)
        w->second[i] = w->second[i] * w->second[i + 1] + w->u[i];
    for (int n = 0; n < 5; n++) {
        const element x = (element)(in[6 + (n & 1)] >> (4 * n) & 63) / 13;
        element lagrange = 0, newton = w->difference[5], chebyshev = 0, before = 0;
        for (int i = 0; i < 6; i++) {
            element product = w->y[i];
            for (int k = 0; k < 6; k++)
                if (k != i)
                    product *= (x - (element)k) / (element)(i - k);
            lagrange += product;
        }
        for (int i = 4; i >= 0; i--)
            newton = newton * (x - (element)i) + w->difference[i];
        const int k = x >= 5 ? 4 : (int)x;
        const element b = x - (element)k, a = 1 - b;
        const element spline =
            a * w->y[k] + b * w->y[k + 1] + ((a * a * a - a) * w->second[k] + (b * b * b - b) * w->second[k + 1]) / 6;
        for (int i = 5; i > 0; i--) {
            const element t = 2 * (x / 5) * chebyshev - before + w->y[i];
            before = chebyshev;
            chebyshev = t;
        }
        out[4 * n] = WORD_OF(lagrange);
        out[4 * n + 1] = WORD_OF(newton);
        out[4 * n + 2] = WORD_OF(spline);
        out[4 * n + 3] = WORD_OF(x / 5 * chebyshev - before + w->y[0]);
    }
}
