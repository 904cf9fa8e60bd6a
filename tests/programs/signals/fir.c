// A filter whose delay line is moved up by one for every sample, and the same with a ring.
// words: 40 80
// run: private i32 1x16
// run: private f32 2x8
// run: local i16 1x8
// run: global i64 1x4
// run: local u8 1x8
#define WORKS 16
typedef element work_t;

TABLE(i8) taps[8] = {1, 3, 5, 7, 7, 5, 3, 1};

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *line = w, *ring = w + 8;
    u32 at = 0;
    for (int i = 0; i < 16; i++)
        w[i] = 0;
    for (int n = 0; n < 40; n++) {
        const element x = (element)(in[n] & 127);
        element sum = 0;
        for (int i = 7; i > 0; i--)
            line[i] = line[i - 1];
        line[0] = x;
        for (int i = 0; i < 8; i++)
            sum += (element)taps[i] * line[i];
        out[n] = WORD_OF(sum);
        ring[at & 7] = x;
        sum = 0;
        for (u32 i = 0; i < 8; i++)
            sum += (element)taps[i] * ring[(at - i) & 7];
        at++;
        out[40 + n] = WORD_OF(sum);
    }
}
