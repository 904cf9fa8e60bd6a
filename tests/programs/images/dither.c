// Errors spread by Floyd and Steinberg, in two rows.
// words: 32 17
// run: private i32 1x8
// run: local i16 1x8
#define WORKS 36
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *row = w, *next = w + 18;
    for (int i = 0; i < 36; i++)
        w[i] = 0;
    for (int y = 0; y < 8; y++) {
        u32 bits = 0, check = 0;
        const int way = y & 1 ? -1 : 1;
        for (int n = 0; n < 16; n++) {
            const int x = y & 1 ? 15 - n : n;
            const int value = (int)(in[4 * y + x / 4] >> (x % 4 * 8) & 255) + row[x + 1];
            const int black = value < 128, error = black ? value : value - 255;
            bits |= (u32)!black << x;
            row[x + 1 + way] += (element)(error * 7 / 16);
            next[x + 1 - way] += (element)(error * 3 / 16);
            next[x + 1] += (element)(error * 5 / 16);
            next[x + 1 + way] += (element)(error / 16);
            check = check * 7 + (u32)error;
        }
        out[y] = bits;
        out[8 + y] = check;
        MEM element *t = row;
        row = next;
        next = t;
        for (int i = 0; i < 18; i++)
            next[i] = 0;
    }
    u32 left = 0;
    for (int i = 0; i < 18; i++)
        left = left * 5 + (u32)(i32)row[i];
    out[16] = left;
}
