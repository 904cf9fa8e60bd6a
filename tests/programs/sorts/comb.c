// Comb sort, and a count of its exchanges.
// words: 50 51
// run: private f32 1x16
// run: global i64 2x3
#define WORKS 50
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 50; i++)
        a[i] = ELEMENT_OF(in[i]);
    int gap = 50, exchanged = 1;
    u32 count = 0;
    while (gap > 1 || exchanged) {
        gap = gap * 10 / 13;
        if (gap == 9 || gap == 10)
            gap = 11;
        if (gap < 1)
            gap = 1;
        exchanged = 0;
        for (int i = 0; i + gap < 50; i++) {
            if (a[i] <= a[i + gap])
                continue;
            element t = a[i];
            a[i] = a[i + gap];
            a[i + gap] = t;
            exchanged = 1;
            count++;
        }
    }
    for (int i = 0; i < 50; i++)
        out[i] = WORD_OF(a[i]);
    out[50] = count;
}
