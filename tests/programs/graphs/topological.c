// A topological order by counts of what is before, and the longest path in it.
// words: 24 34
// run: private u8 1x16
// run: global u16 2x4
#define WORKS 1
typedef struct {
    element before[16], longest[16];
    u16 edges[16];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 16; i++) {
        w->before[i] = w->longest[i] = 0;
        w->edges[i] = 0;
    }
    for (int i = 0; i < 24; i++) {
        u32 a = in[i] & 15, b = in[i] >> 4 & 15;
        if (a * 7 % 16 > b * 7 % 16) {
            const u32 t = a;
            a = b;
            b = t;
        }
        if (a == b || w->edges[a] >> b & 1)
            continue;
        w->edges[a] |= (u16)(1u << b);
        w->before[b]++;
    }
    u32 done = 0;
    int count = 0;
again:
    for (u32 i = 0; i < 16; i++) {
        if (done >> i & 1 || w->before[i] != 0)
            continue;
        done |= 1u << i;
        out[count++] = i;
        for (u32 k = 0; k < 16; k++) {
            if (!(w->edges[i] >> k & 1))
                continue;
            w->before[k]--;
            if (w->longest[k] <= w->longest[i])
                w->longest[k] = (element)(w->longest[i] + 1);
        }
        goto again;
    }
    for (int i = 0; i < 16; i++)
        out[16 + i] = WORD_OF(w->longest[i]);
    out[32] = (u32)count;
    out[33] = done;
}
