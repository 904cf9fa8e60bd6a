// Counting sort of small keys with a payload, which shows that it is stable.
// words: 60 60
// run: private u32 1x16
// run: local u16 2x8
#define WORKS 1
typedef struct {
    u16 count[17];
    element sorted[60];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 17; i++)
        w->count[i] = 0;
    for (int i = 0; i < 60; i++)
        w->count[(in[i] & 15) + 1]++;
    for (int i = 1; i < 17; i++)
        w->count[i] += w->count[i - 1];
    for (int i = 0; i < 60; i++)
        w->sorted[w->count[in[i] & 15]++] = (element)(in[i] & 0xffff);
    for (int i = 0; i < 60; i++)
        out[i] = WORD_OF(w->sorted[i]);
}
