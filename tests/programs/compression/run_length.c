// Run-length coding there and back.
// words: 60 62
// run: private u8 1x16
// run: global u16 2x8
#define WORKS 1
typedef struct {
    element packed[128], unpacked[64];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int length = 0, at = 0;
    while (at < 60) {
        const element x = (element)(in[at] >> 5 & 1);
        int run = 1;
        while (at + run < 60 && run < 9 && (element)(in[at + run] >> 5 & 1) == x)
            run++;
        w->packed[length++] = (element)run;
        w->packed[length++] = x;
        at += run;
    }
    int count = 0;
    for (int i = 0; i < length; i += 2)
        for (int k = w->packed[i]; k > 0; k--)
            w->unpacked[count++] = w->packed[i + 1];
    u32 wrong = 0;
    for (int i = 0; i < 60; i++) {
        wrong += w->unpacked[i] != (element)(in[i] >> 5 & 1);
        out[i] = i < length ? WORD_OF(w->packed[i]) : 0;
    }
    out[60] = (u32)length;
    out[61] = wrong << 16 | (u32)count;
}
