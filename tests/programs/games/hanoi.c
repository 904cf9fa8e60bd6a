// Towers with a stack instead of recursion, knight's distances, and a maze dug by going back.
// words: 4 40
// run: private u8 1x8
// run: local i8 1x8
#define WORKS 1
typedef struct {
    struct { element count, from, to; } stack[32];
    element peg[3], board[64], queue[64];
    u16 maze[8];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int top = 0;
    u32 moves = 0, trace = 0;
    const int discs = 3 + (int)(in[0] & 3);
    w->peg[0] = (element)discs;
    w->peg[1] = w->peg[2] = 0;
    w->stack[top].count = (element)discs, w->stack[top].from = 0, w->stack[top++].to = 2;
    while (top > 0) {
        top--;
        const int count = w->stack[top].count, from = w->stack[top].from, to = w->stack[top].to, other = 3 - from - to;
        if (count == 1) {
            w->peg[from]--;
            w->peg[to]++;
            moves++;
            trace = trace * 7 + (u32)(from * 3 + to);
            continue;
        }
        w->stack[top].count = (element)(count - 1), w->stack[top].from = (element)other, w->stack[top++].to = (element)to;
        w->stack[top].count = 1, w->stack[top].from = (element)from, w->stack[top++].to = (element)to;
        w->stack[top].count = (element)(count - 1), w->stack[top].from = (element)from, w->stack[top++].to = (element)other;
    }
    out[0] = moves;
    out[1] = trace;
    out[2] = (u32)w->peg[2];
    for (int i = 0; i < 64; i++)
        w->board[i] = 99;
    int first = 0, last = 0;
    w->queue[last++] = (element)(in[1] & 63);
    w->board[in[1] & 63] = 0;
    while (first < last) {
        const int at = w->queue[first++], x = at & 7, y = at >> 3;
        for (int k = 0; k < 8; k++) {
            const int dx = (k & 1 ? 1 : 2) * (k & 2 ? 1 : -1), dy = (k & 1 ? 2 : 1) * (k & 4 ? 1 : -1);
            const int nx = x + dx, ny = y + dy;
            if (nx < 0 || nx > 7 || ny < 0 || ny > 7 || w->board[8 * ny + nx] != 99)
                continue;
            w->board[8 * ny + nx] = (element)(w->board[at] + 1);
            w->queue[last++] = (element)(8 * ny + nx);
        }
    }
    for (int i = 0; i < 28; i++)
        out[3 + i] = (u32)w->board[2 * i + (i & 1)];
    u32 state = in[2] | 1;
    for (int i = 0; i < 8; i++)
        w->maze[i] = 0;
    for (int i = 0; i < 64; i++)
        w->board[i] = -1;
    int at = 0;
    w->board[0] = 0;
    for (int step = 0; step < 400; step++) {
        state = state * 1103515245u + 12345u;
        int k = 0;
        const int turn = (int)(state >> 16 & 3);
        for (; k < 4; k++) {
            const int way = (k + turn) & 3, x = (at & 7) + (way == 0) - (way == 2), y = (at >> 3) + (way == 1) - (way == 3);
            if (x < 0 || x > 7 || y < 0 || y > 7 || w->board[8 * y + x] != (element)-1)
                continue;
            w->maze[at >> 3] |= (u16)(way == 0 ? 1 << (at & 7) : way == 1 ? 256 << (at & 7) : 0);
            w->board[8 * y + x] = (element)at;
            at = 8 * y + x;
            w->maze[at >> 3] |= (u16)(way == 2 ? 1 << (at & 7) : way == 3 ? 256 << (at & 7) : 0);
            break;
        }
        if (k < 4)
            continue;
        if (at == 0)
            break;
        at = w->board[at];
    }
    for (int i = 0; i < 8; i++)
        out[31 + i] = w->maze[i];
    out[39] = (u32)at;
}
