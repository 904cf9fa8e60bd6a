// All shortest paths by Floyd and Warshall, in a work-group.
// words: 144 144
// grouped: yes
// run: local i32 2x16
// run: global f32 1x12
// run: local u16 1x36
#define WORKS 144
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *d) {
    EACH(i)
        for (u32 k = i; k < 144; k += GROUP)
            d[k] = (element)(k % 13 == 0 ? 0 : in[k] % 5 ? 9999 : in[k] / 5 % 100);
    MEET();
    for (u32 k = 0; k < 12; k++) {
        EACH(i)
            for (u32 at = i; at < 144; at += GROUP) {
                const element through = (element)(d[at / 12 * 12 + k] + d[k * 12 + at % 12]);
                if (at / 12 != k && at % 12 != k && through < d[at])
                    d[at] = through;
            }
        MEET();
    }
    EACH(i)
        for (u32 k = i; k < 144; k += GROUP)
            out[k] = WORD_OF(d[k]);
}
