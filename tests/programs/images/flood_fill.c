// Flood fill with a stack of spans, and labels of all regions.
// words: 8 66
// run: private u8 1x8
// run: local u8 1x8
// run: global u16 1x2
#define WORKS 1
typedef struct {
    element image[8][8];
    struct { i8 x, y; } stack[64];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int label = 1, largest = 0, deepest = 0;
    for (int i = 0; i < 64; i++)
        w->image[i / 8][i % 8] = (element)(in[i / 8] >> (3 * (i % 8)) & 1);
    for (int i = 0; i < 64; i++) {
        if (w->image[i / 8][i % 8] != 1)
            continue;
        int top = 0, size = 0;
        label++;
        w->stack[top].x = (i8)(i % 8);
        w->stack[top++].y = (i8)(i / 8);
        while (top > 0) {
            top--;
            int x = w->stack[top].x;
            const int y = w->stack[top].y;
            while (x > 0 && w->image[y][x - 1] == 1)
                x--;
            int above = 0, below = 0;
            for (; x < 8 && w->image[y][x] == 1; x++) {
                w->image[y][x] = (element)label;
                size++;
                if (y > 0) {
                    const int open = w->image[y - 1][x] == 1;
                    if (open && !above) {
                        w->stack[top].x = (i8)x;
                        w->stack[top++].y = (i8)(y - 1);
                    }
                    above = open;
                }
                if (y < 7) {
                    const int open = w->image[y + 1][x] == 1;
                    if (open && !below) {
                        w->stack[top].x = (i8)x;
                        w->stack[top++].y = (i8)(y + 1);
                    }
                    below = open;
                }
            }
            deepest = MAX(deepest, top);
        }
        largest = MAX(largest, size);
    }
    for (int i = 0; i < 64; i++)
        out[i] = WORD_OF(w->image[i / 8][i % 8]);
    out[64] = (u32)label;
    out[65] = (u32)(largest << 8 | deepest);
}
