// Queens on a board of 5 to 7: all placements by bits with a stack, and the first by going back.
// words: 1 10
// run: private u8 1x16
// run: local u32 1x8
#define WORKS 40
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    const int n = 5 + (int)(in[0] % 3);
    const u32 all = (1u << n) - 1;
    MEM element *free = w, *columns = w + 8, *left = w + 16, *right = w + 24, *queen = w + 32;
    u32 solutions = 0, nodes = 0;
    int depth = 0;
    columns[0] = left[0] = right[0] = 0;
    free[0] = (element)all;
    while (depth >= 0) {
        const u32 choices = (u32)free[depth];
        if (!choices) {
            depth--;
            continue;
        }
        const u32 bit = choices & (0 - choices);
        free[depth] = (element)(choices ^ bit);
        nodes++;
        if (depth == n - 1) {
            solutions++;
            continue;
        }
        const u32 c = (u32)columns[depth] | bit, l = ((u32)left[depth] | bit) << 1 & all, r = ((u32)right[depth] | bit) >> 1;
        depth++;
        columns[depth] = (element)c;
        left[depth] = (element)l;
        right[depth] = (element)r;
        free[depth] = (element)(all & ~(c | l | r));
    }
    int row = 0, start = 0;
    while (row < n) {
        int column = start;
        for (; column < n; column++) {
            int ok = 1;
            for (int k = 0; k < row && ok; k++) {
                const int other = (int)queen[k], d = row - k;
                ok = other != column && other != column + d && other != column - d;
            }
            if (ok)
                break;
        }
        if (column < n) {
            queen[row++] = (element)column;
            start = 0;
        } else {
            if (row == 0)
                break;
            start = (int)queen[--row] + 1;
        }
    }
    out[0] = solutions;
    out[1] = nodes;
    for (int i = 0; i < 8; i++)
        out[2 + i] = i < n && row == n ? (u32)queen[i] : 9;
}
