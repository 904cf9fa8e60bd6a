// Shell sort.
// words: 70 70
// run: private i16 1x16
// run: global u32 4x4
#define WORKS 70
typedef element work_t;

TABLE(int) gaps[] = {57, 23, 10, 4, 1};

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 70; i++)
        a[i] = ELEMENT_OF(in[i]);
    for (int g = 0; g < 5; g++) {
        const int gap = gaps[g];
        for (int i = gap; i < 70; i++) {
            element x = a[i];
            int j;
            for (j = i; j >= gap && a[j - gap] > x; j -= gap)
                a[j] = a[j - gap];
            a[j] = x;
        }
    }
    for (int i = 0; i < 70; i++)
        out[i] = WORD_OF(a[i]);
}
