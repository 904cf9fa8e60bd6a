// A Haar transform of whole numbers by lifting, and back; a Hadamard transform.
// words: 16 48
// run: private i32 1x16
// run: local i16 1x8
// run: global i64 1x4
#define WORKS 32
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    MEM element *t = a + 16;
    for (int i = 0; i < 16; i++)
        a[i] = (element)((i32)in[i] >> 20);
    for (int n = 16; n > 1; n /= 2) {
        for (int i = 0; i < n / 2; i++) {
            const element d = (element)(a[2 * i + 1] - a[2 * i]);
            t[n / 2 + i] = d;
            t[i] = (element)(a[2 * i] + (d >> 1));
        }
        for (int i = 0; i < n; i++)
            a[i] = t[i];
    }
    for (int i = 0; i < 16; i++)
        out[i] = WORD_OF(a[i]);
    for (int n = 2; n <= 16; n *= 2) {
        for (int i = 0; i < n / 2; i++) {
            const element d = a[n / 2 + i], s = (element)(a[i] - (d >> 1));
            t[2 * i] = s;
            t[2 * i + 1] = (element)(s + d);
        }
        for (int i = n - 1; i >= 0; i--)
            a[i] = t[i];
    }
    for (int i = 0; i < 16; i++)
        out[16 + i] = WORD_OF(a[i]);
    for (int h = 1; h < 16; h <<= 1)
        for (int i = 0; i < 16; i += h << 1)
            for (int j = i; j < i + h; j++) {
                const element x = a[j], y = a[j + h];
                a[j] = (element)(x + y);
                a[j + h] = (element)(x - y);
            }
    for (int i = 0; i < 16; i++)
        out[32 + i] = WORD_OF(a[i]);
}
