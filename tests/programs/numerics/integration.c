// Integrals by Simpson, by Romberg's table, and by halving intervals with a stack.
// words: 4 12
// run: private f32 1x16
// run: local f32 1x8
// run: private f64 1x4
// tolerance: 0.0005 0.0005
#define WORKS 40
typedef element work_t;

static element f(element x, element a) { return 1 / (1 + a * x * x) + x; }

static void program(IN in, OUT out, MEM work_t *w) {
    for (int n = 0; n < 4; n++) {
        const element a = (element)(in[n] % 64) / 8 + (element)0.5f;
        element sum = f(0, a) + f(2, a);
        for (int i = 1; i < 16; i++)
            sum += f((element)i / 8, a) * (i & 1 ? 4 : 2);
        out[3 * n] = WORD_OF(sum / 24);
        element h = 2;
        w[0] = h / 2 * (f(0, a) + f(2, a));
        for (int i = 1; i < 6; i++) {
            h /= 2;
            element more = 0;
            for (int k = 1; k < 1 << i; k += 2)
                more += f((element)k * h, a);
            MEM element *row = w + 6 * i, *before = row - 6;
            row[0] = before[0] / 2 + h * more;
            element factor = 1;
            for (int j = 1; j <= i; j++) {
                factor *= 4;
                row[j] = row[j - 1] + (row[j - 1] - before[j - 1]) / (factor - 1);
            }
        }
        out[3 * n + 1] = WORD_OF(w[35]);
        int top = 0;
        element total = 0;
        w[top++] = 0;
        w[top++] = 2;
        while (top > 0) {
            const element high = w[--top], low = w[--top], middle = (low + high) / 2;
            const element one = (high - low) / 2 * (f(low, a) + f(high, a));
            const element two = one / 2 + (high - low) / 2 * f(middle, a);
            if (fabs(one - two) < (element)0.001f * (high - low) || top > 34) {
                total += two + (two - one) / 3;
                continue;
            }
            w[top++] = middle;
            w[top++] = high;
            w[top++] = low;
            w[top++] = middle;
        }
        out[3 * n + 2] = WORD_OF(total);
    }
}
