// Bubble sort whose bound shrinks to the last exchange.
// words: 48 48
// run: private i32 2x16
// run: global u8 5x1
#define WORKS 48
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 48; i++)
        a[i] = ELEMENT_OF(in[i]);
    int bound = 48;
    do {
        int last = 0;
        for (int i = 1; i < bound; i++) {
            if (a[i - 1] > a[i]) {
                element t = a[i - 1];
                a[i - 1] = a[i];
                a[i] = t;
                last = i;
            }
        }
        bound = last;
    } while (bound > 1);
    for (int i = 0; i < 48; i++)
        out[i] = WORD_OF(a[i]);
}
