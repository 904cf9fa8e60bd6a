// Shortest paths by Dijkstra with a binary heap, and the way back.
// words: 36 24
// run: private u16 1x8
// run: local u32 1x4
// run: global i64 2x2
#define WORKS 1
typedef struct {
    element distance[12];
    i8 before[12];
    struct { element key; int node; } heap[64];
    u8 weight[12][12];
} work_t;

static int push(MEM work_t *w, int count, element key, int node) {
    int at = count;
    while (at > 0 && w->heap[(at - 1) / 2].key > key) {
        w->heap[at] = w->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    w->heap[at].key = key;
    w->heap[at].node = node;
    return count + 1;
}

static int pop(MEM work_t *w, int count) {
    const int last = count - 1;
    const element key = w->heap[last].key;
    const int node = w->heap[last].node;
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= last)
            break;
        if (child + 1 < last && w->heap[child + 1].key < w->heap[child].key)
            child++;
        if (w->heap[child].key >= key)
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at].key = key;
    w->heap[at].node = node;
    return last;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 144; i++) {
        const u32 bits = in[i / 4] >> (i % 4 * 8) & 255;
        w->weight[i / 12][i % 12] = bits < 90 ? (u8)(bits % 50 + 1) : 0;
    }
    for (int i = 0; i < 12; i++) {
        w->distance[i] = 30000;
        w->before[i] = -1;
    }
    w->distance[0] = 0;
    int count = push(w, 0, 0, 0);
    while (count > 0) {
        const element key = w->heap[0].key;
        const int node = w->heap[0].node;
        count = pop(w, count);
        if (key > w->distance[node])
            continue;
        for (int to = 0; to < 12; to++) {
            if (!w->weight[node][to])
                continue;
            const element through = (element)(key + w->weight[node][to]);
            if (through >= w->distance[to])
                continue;
            w->distance[to] = through;
            w->before[to] = (i8)node;
            count = push(w, count, through, to);
        }
    }
    for (int i = 0; i < 12; i++) {
        u32 way = 0;
        out[i] = WORD_OF(w->distance[i]);
        for (int at = i; at > 0; at = w->before[at])
            way = way * 13 + (u32)at;
        out[12 + i] = way;
    }
}
