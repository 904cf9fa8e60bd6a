// Heap sort.
// words: 50 50
// run: private u32 2x8
// run: local f32 2x8
// run: global i8 1x1
#define WORKS 50
typedef element work_t;

static void sink(MEM element *a, int at, int count) {
    while (2 * at + 1 < count) {
        int child = 2 * at + 1;
        if (child + 1 < count && a[child + 1] > a[child])
            child++;
        if (a[at] >= a[child])
            return;
        element t = a[at];
        a[at] = a[child];
        a[child] = t;
        at = child;
    }
}

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 50; i++)
        a[i] = ELEMENT_OF(in[i]);
    for (int i = 24; i >= 0; i--)
        sink(a, i, 50);
    for (int count = 49; count > 0; count--) {
        element t = a[0];
        a[0] = a[count];
        a[count] = t;
        sink(a, 0, count);
    }
    for (int i = 0; i < 50; i++)
        out[i] = WORD_OF(a[i]);
}
