// String search by Knuth, Morris and Pratt; where each match starts.
// words: 80 24
// run: private u8 1x16
// run: local u8 2x8
// run: global u32 3x2
#define WORKS 1
typedef struct {
    element text[80], pattern[6];
    i8 border[7];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 80; i++)
        w->text[i] = (element)('a' + in[i] % 2);
    for (int i = 0; i < 6; i++)
        w->pattern[i] = (element)('a' + (in[i] >> 8) % 2);
    int k = -1;
    w->border[0] = -1;
    for (int i = 0; i < 6; i++) {
        while (k >= 0 && w->pattern[k] != w->pattern[i])
            k = w->border[k];
        w->border[i + 1] = (i8)++k;
    }
    int found = 0;
    k = 0;
    for (int i = 0; i < 80; i++) {
        while (k >= 0 && w->pattern[k] != w->text[i])
            k = w->border[k];
        if (++k == 6) {
            if (found < 23)
                out[found++] = (u32)(i - 5);
            k = w->border[k];
        }
    }
    for (int i = found; i < 23; i++)
        out[i] = 0xffffffffu;
    out[23] = (u32)found;
}
