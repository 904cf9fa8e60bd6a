// Insertion sort.
// words: 40 40
// run: private u32 2x16
// run: local i16 4x8
// run: global f32 3x1
#define WORKS 40
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 40; i++)
        a[i] = ELEMENT_OF(in[i]);
    for (int i = 1; i < 40; i++) {
        element x = a[i];
        int j = i;
        while (j > 0 && a[j - 1] > x) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = x;
    }
    for (int i = 0; i < 40; i++)
        out[i] = WORD_OF(a[i]);
}
