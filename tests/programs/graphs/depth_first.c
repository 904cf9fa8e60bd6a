// Depth first with a stack: times of entry and exit, kinds of edges.
// words: 12 37
// run: private i8 1x16
// run: local i16 1x8
#define WORKS 1
typedef struct {
    element enter[16], leave[16], next[16];
    i8 stack[16];
    u16 edges[16];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    u32 tree = 0, back = 0, forward = 0, cross = 0;
    int time = 0;
    for (int i = 0; i < 16; i++) {
        w->enter[i] = w->leave[i] = -1;
        w->next[i] = 0;
        w->edges[i] = 0;
    }
    for (int i = 0; i < 36; i++) {
        const u32 pair = in[i / 3] >> (i % 3 * 9);
        w->edges[pair & 15] |= (u16)(1 << (pair >> 4 & 15));
    }
    for (int root = 0; root < 16; root++) {
        if (w->enter[root] >= 0)
            continue;
        int top = 0;
        w->stack[top] = (i8)root;
        w->enter[root] = (element)time++;
        do {
            const int at = w->stack[top];
            const int to = w->next[at]++;
            if (to == 16) {
                w->leave[at] = (element)time++;
                top--;
                continue;
            }
            if (!(w->edges[at] >> to & 1))
                continue;
            if (w->enter[to] < 0) {
                tree++;
                w->enter[to] = (element)time++;
                w->stack[++top] = (i8)to;
            } else if (w->leave[to] < 0) {
                back++;
            } else if (w->enter[to] > w->enter[at]) {
                forward++;
            } else {
                cross++;
            }
        } while (top >= 0);
    }
    for (int i = 0; i < 16; i++) {
        out[i] = (u32)w->enter[i];
        out[16 + i] = (u32)w->leave[i];
    }
    out[32] = tree;
    out[33] = back;
    out[34] = forward;
    out[35] = cross;
    out[36] = (u32)time;
}
