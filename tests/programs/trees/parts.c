// A list cut into ever larger parts, until one is left, in groups smaller than a sub-group.
// words: 8 8
// run: local i32 3x1
// run: global i32 1x4
// run: private i32 1x5
#define WORKS 8
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *next) {
    for (int i = 0; i < 8; i++)
        next[i] = i < 7 ? i + 1 : -1;
    u32 total = 0;
    for (int size = 1;; size *= 2) {
        int parts = 0, p = 0;
        while (p >= 0) {
            parts++;
            for (int i = 0; i < size && p >= 0; i++)
                p = next[p];
        }
        total = total * 10 + (u32)parts;
        if (parts <= 1)
            break;
    }
    for (int k = 0; k < 8; k++)
        out[k] = total;
}
