// Knapsacks: each thing once (down), each as often as one likes (up), and sums that can be reached.
// words: 12 8
// run: private u16 1x16
// run: local u16 1x8
// run: global u32 1x4
#define WORKS 82
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *once = w, *often = w + 41;
    u64 sums = 1;
    for (int i = 0; i <= 40; i++)
        once[i] = often[i] = 0;
    for (int i = 0; i < 12; i++) {
        const int weight = (int)(in[i] % 17) + 2;
        const element value = (element)(in[i] >> 8 & 63);
        for (int c = 40; c >= weight; c--) {
            const element with = (element)(once[c - weight] + value);
            if (with > once[c])
                once[c] = with;
        }
        for (int c = weight; c <= 40; c++) {
            const element with = (element)(often[c - weight] + value);
            if (with > often[c])
                often[c] = with;
        }
        sums |= sums << weight;
    }
    out[0] = WORD_OF(once[40]);
    out[1] = WORD_OF(often[40]);
    out[2] = WORD_OF(once[23]);
    out[3] = WORD_OF(often[23]);
    out[4] = (u32)sums;
    out[5] = (u32)(sums >> 32);
    u32 hash = 0;
    for (int i = 0; i < 82; i++)
        hash = hash * 31 + (u32)w[i];
    out[6] = hash;
    out[7] = 0;
}
