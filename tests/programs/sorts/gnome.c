// Gnome sort: one loop that walks back and forth.
// words: 24 25
// run: private u8 1x16
// run: local i32 1x8
#define WORKS 24
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 24; i++)
        a[i] = ELEMENT_OF(in[i]);
    int at = 0;
    u32 steps = 0;
    for (;;) {
        if (at >= 24)
            break;
        steps++;
        if (at == 0 || a[at - 1] <= a[at]) {
            at++;
            continue;
        }
        element t = a[at];
        a[at] = a[at - 1];
        a[at - 1] = t;
        at--;
    }
    for (int i = 0; i < 24; i++)
        out[i] = WORD_OF(a[i]);
    out[24] = steps;
}
