// Sets with paths made shorter, and a spanning tree of least weight by them.
// words: 40 36
// run: private u8 1x16
// run: local i16 1x8
#define WORKS 1
typedef struct {
    element parent[16];
    u8 rank[16];
    u8 order[40];
} work_t;

static int find(MEM work_t *w, int x) {
    while (w->parent[x] != x) {
        w->parent[x] = w->parent[w->parent[x]];
        x = w->parent[x];
    }
    return x;
}

static int join(MEM work_t *w, int a, int b) {
    a = find(w, a);
    b = find(w, b);
    if (a == b)
        return 0;
    if (w->rank[a] < w->rank[b]) {
        const int t = a;
        a = b;
        b = t;
    }
    w->parent[b] = (element)a;
    if (w->rank[a] == w->rank[b])
        w->rank[a]++;
    return 1;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 16; i++) {
        w->parent[i] = (element)i;
        w->rank[i] = 0;
    }
    for (int i = 0; i < 40; i++) {
        const u32 weight = in[i] >> 12;
        int j = i;
        while (j > 0 && in[w->order[j - 1]] >> 12 > weight) {
            w->order[j] = w->order[j - 1];
            j--;
        }
        w->order[j] = (u8)i;
    }
    u32 total = 0, taken = 0;
    for (int i = 0; i < 40; i++) {
        const u32 edge = in[w->order[i]];
        if (!join(w, (int)(edge & 15), (int)(edge >> 4 & 15)))
            continue;
        total += edge >> 12;
        out[taken++] = w->order[i];
        if (taken == 15)
            break;
    }
    for (u32 i = taken; i < 16; i++)
        out[i] = 99;
    for (int i = 0; i < 16; i++)
        out[16 + i] = (u32)find(w, i) << 8 | w->rank[i];
    out[32] = total;
    out[33] = taken;
    out[34] = out[35] = 0;
}
