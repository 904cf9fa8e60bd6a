// Sums of ranges by a Fenwick tree and least elements by a segment tree, between changes.
// words: 48 32
// run: private i32 1x16
// run: local i64 1x4
// run: global f32 1x4
#define WORKS 1
typedef struct {
    element sums[17], least[32];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i <= 16; i++)
        w->sums[i] = 0;
    for (int i = 0; i < 16; i++) {
        const element x = (element)(in[i] % 1000);
        w->least[16 + i] = x;
        for (int k = i + 1; k <= 16; k += k & -k)
            w->sums[k] += x;
    }
    for (int i = 15; i > 0; i--)
        w->least[i] = MIN(w->least[2 * i], w->least[2 * i + 1]);
    for (int q = 0; q < 16; q++) {
        int low = (int)(in[16 + q] & 15), high = (int)(in[16 + q] >> 4 & 15);
        if (low > high) {
            const int t = low;
            low = high;
            high = t;
        }
        element sum = 0;
        for (int k = high + 1; k > 0; k &= k - 1)
            sum += w->sums[k];
        for (int k = low; k > 0; k &= k - 1)
            sum -= w->sums[k];
        element least = 100000;
        for (int a = low + 16, b = high + 17; a < b; a /= 2, b /= 2) {
            if (a & 1) {
                least = MIN(least, w->least[a]);
                a++;
            }
            if (b & 1) {
                b--;
                least = MIN(least, w->least[b]);
            }
        }
        out[2 * q] = WORD_OF(sum);
        out[2 * q + 1] = WORD_OF(least);
        const int at = (int)(in[32 + q] & 15);
        const element x = (element)(in[32 + q] >> 8 & 1023), change = x - w->least[16 + at];
        for (int k = at + 1; k <= 16; k += k & -k)
            w->sums[k] += change;
        w->least[16 + at] = x;
        for (int k = (16 + at) / 2; k > 0; k /= 2)
            w->least[k] = MIN(w->least[2 * k], w->least[2 * k + 1]);
    }
}
