// Points in a quarter of a circle, counted by a work-group and summed in a tree.
// words: 4 4
// grouped: yes
// run: local u32 2x32
// run: global u32 1x64
// run: local u16 3x8
#define WORKS GROUP
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *hits) {
    EACH(i) {
        u32 state = in[0] + i * 2654435761u, count = 0;
        for (int n = 0; n < 40; n++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            const u32 x = state & 0xffff, y = state >> 16;
            if ((u64)x * x + (u64)y * y < (u64)65535 * 65535)
                count++;
        }
        hits[i] = (element)count;
    }
    MEET();
    for (u32 stride = GROUP / 2; stride > 0; stride >>= 1) {
        EACH(i)
            if (i < stride)
                hits[i] += hits[i + stride];
        MEET();
    }
    EACH(i)
        if (i < 4)
            out[i] = WORD_OF(hits[i]);
}
