// Merge sort from the bottom up, between two halves of the memory by turns.
// words: 45 46
// run: private i64 1x8
// run: global u16 3x5
#define WORKS 90
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *memory) {
    MEM element *from = memory, *to = memory + 45;
    u32 passes = 0;
    for (int i = 0; i < 45; i++)
        from[i] = ELEMENT_OF(in[i]);
    for (int width = 1; width < 45; width *= 2) {
        for (int start = 0; start < 45; start += 2 * width) {
            const int middle = MIN(start + width, 45), end = MIN(start + 2 * width, 45);
            int left = start, right = middle;
            for (int k = start; k < end; k++) {
                if (left < middle && (right >= end || from[left] <= from[right]))
                    to[k] = from[left++];
                else
                    to[k] = from[right++];
            }
        }
        MEM element *t = from;
        from = to;
        to = t;
        passes++;
    }
    for (int i = 0; i < 45; i++)
        out[i] = WORD_OF(from[i]);
    out[45] = passes;
}
