// Cocktail sort: up and down by turns.
// words: 30 30
// run: private i16 1x16
// run: global f32 1x4
#define WORKS 30
typedef element work_t;

static int step(MEM element *a, int i) {
    if (a[i] <= a[i + 1])
        return 0;
    element t = a[i];
    a[i] = a[i + 1];
    a[i + 1] = t;
    return 1;
}

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 30; i++)
        a[i] = ELEMENT_OF(in[i]);
    int low = 0, high = 29;
    while (low < high) {
        int up = low, down = high;
        for (int i = low; i < high; i++)
            if (step(a, i))
                up = i;
        high = up;
        for (int i = high - 1; i >= low; i--)
            if (step(a, i))
                down = i + 1;
        low = down;
    }
    for (int i = 0; i < 30; i++)
        out[i] = WORD_OF(a[i]);
}
