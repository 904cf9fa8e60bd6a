// Bitonic sort by a work-group.
// words: 64 64
// grouped: yes
// run: local u32 3x64
// run: local f32 2x16
// run: global i16 2x32
#define WORKS 64
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP)
            a[k] = ELEMENT_OF(in[k]);
    MEET();
    for (u32 size = 2; size <= 64; size *= 2) {
        for (u32 stride = size / 2; stride > 0; stride /= 2) {
            EACH(i) {
                for (u32 k = i; k < 32; k += GROUP) {
                    const u32 low = 2 * k - (k & (stride - 1)), high = low + stride;
                    const int down = (low & size) != 0;
                    if ((a[low] > a[high]) != down) {
                        element t = a[low];
                        a[low] = a[high];
                        a[high] = t;
                    }
                }
            }
            MEET();
        }
    }
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP)
            out[k] = WORD_OF(a[k]);
}
