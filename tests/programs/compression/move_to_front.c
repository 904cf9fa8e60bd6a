// Move to front, which moves the start of a list up by one, there and back.
// words: 40 81
// run: private u8 1x16
// run: local u32 1x8
// run: global u16 1x4
#define WORKS 16
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *list) {
    u32 sum = 0;
    for (int i = 0; i < 16; i++)
        list[i] = (element)i;
    for (int i = 0; i < 40; i++) {
        const element x = (element)(in[i] & in[i] >> 4 & 15);
        int at = 0;
        while (list[at] != x)
            at++;
        for (int j = at; j > 0; j--)
            list[j] = list[j - 1];
        list[0] = x;
        out[i] = (u32)at;
        sum += (u32)at;
    }
    for (int i = 0; i < 16; i++)
        list[i] = (element)i;
    for (int i = 0; i < 40; i++) {
        const int at = (int)out[i];
        const element x = list[at];
        for (int j = at; j > 0; j--)
            list[j] = list[j - 1];
        list[0] = x;
        out[40 + i] = WORD_OF(x);
    }
    out[80] = sum;
}
