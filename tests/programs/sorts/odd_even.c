// Odd-even transposition sort by a work-group.
// words: 32 32
// grouped: yes
// run: local i32 2x16
// run: global u8 1x16
#define WORKS 32
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    EACH(i) {
        a[2 * i] = ELEMENT_OF(in[2 * i]);
        a[2 * i + 1] = ELEMENT_OF(in[2 * i + 1]);
    }
    MEET();
    for (u32 step = 0; step < 32; step++) {
        EACH(i) {
            const u32 at = 2 * i + (step & 1);
            if (at + 1 < 32 && a[at] > a[at + 1]) {
                element t = a[at];
                a[at] = a[at + 1];
                a[at + 1] = t;
            }
        }
        MEET();
    }
    EACH(i) {
        out[2 * i] = WORD_OF(a[2 * i]);
        out[2 * i + 1] = WORD_OF(a[2 * i + 1]);
    }
}
