// Sums of prefixes by a work-group up and down a tree (Blelloch), and a stream made dense by them.
// words: 64 130
// grouped: yes
// run: local u32 2x32
// run: global i64 1x16
// run: local u16 1x64
#define WORKS 64
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *sums) {
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP)
            sums[k] = (element)(in[k] & 1);
    MEET();
    for (u32 stride = 1; stride < 64; stride *= 2) {
        EACH(i)
            for (u32 k = i; k < 64 / (2 * stride); k += GROUP)
                sums[(k + 1) * 2 * stride - 1] += sums[(2 * k + 1) * stride - 1];
        MEET();
    }
    const u32 total = (u32)sums[63];
    MEET();
    EACH(i)
        if (i == 0)
            sums[63] = 0;
    MEET();
    for (u32 stride = 32; stride > 0; stride /= 2) {
        EACH(i)
            for (u32 k = i; k < 64 / (2 * stride); k += GROUP) {
                const u32 left = (2 * k + 1) * stride - 1, right = (k + 1) * 2 * stride - 1;
                const element t = sums[left];
                sums[left] = sums[right];
                sums[right] += t;
            }
        MEET();
    }
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP) {
            out[k] = WORD_OF(sums[k]);
            if (in[k] & 1)
                out[64 + (u32)sums[k]] = in[k];
            else
                out[64 + total + (k - (u32)sums[k])] = in[k];
        }
    EACH(i)
        if (i == 0)
            out[128] = total, out[129] = 0;
}
