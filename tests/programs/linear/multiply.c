// Matrix products by a work-group in tiles.
// words: 288 144
// grouped: yes
// run: local f32 2x16
// run: local i32 1x36
// run: global u8 1x12
#define WORKS 288
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *a = w, *b = w + 144;
    EACH(i)
        for (u32 k = i; k < 144; k += GROUP) {
            a[k] = (element)((int)(in[k] % 64) - (int)(sizeof(element) > 1 ? 32 : 0));
            b[k] = (element)(in[144 + k] % 32);
        }
    MEET();
    EACH(i)
        for (u32 at = i; at < 144; at += GROUP) {
            const u32 row = at / 12, column = at % 12;
            element sum = 0;
            for (u32 k = 0; k < 12; k++)
                sum += a[row * 12 + k] * b[k * 12 + column];
            out[at] = WORD_OF(sum);
        }
}
