// A tree balanced by priorities, with rotations.
// words: 24 26
// run: private u32 1x8
// run: global u32 2x2
#define WORKS 24
typedef struct {
    element key;
    u16 priority;
    i8 child[2], parent;
} node;
typedef node work_t;

static int rotate_up(MEM node *t, int at, int root) {
    const int parent = t[at].parent, above = t[parent].parent, side = t[parent].child[1] == at;
    const int moved = t[at].child[!side];
    t[parent].child[side] = (i8)moved;
    if (moved >= 0)
        t[moved].parent = (i8)parent;
    t[at].child[!side] = (i8)parent;
    t[parent].parent = (i8)at;
    t[at].parent = (i8)above;
    if (above < 0)
        return at;
    t[above].child[t[above].child[1] == parent] = (i8)at;
    return root;
}

static void program(IN in, OUT out, MEM work_t *t) {
    int root = -1;
    for (int i = 0; i < 24; i++) {
        node n = {(element)(in[i] >> 8), (u16)(in[i] * 40503u >> 16), {-1, -1}, -1};
        int at = root, side = 0;
        while (at >= 0) {
            n.parent = (i8)at;
            side = n.key >= t[at].key;
            at = t[at].child[side];
        }
        t[i] = n;
        if (root < 0) {
            root = i;
            continue;
        }
        t[(int)n.parent].child[side] = (i8)i;
        while (t[i].parent >= 0 && t[(int)t[i].parent].priority < t[i].priority)
            root = rotate_up(t, i, root);
    }
    int at = root, count = 0;
    while (t[at].child[0] >= 0)
        at = t[at].child[0];
    while (at >= 0) {
        out[count++] = WORD_OF(t[at].key);
        if (t[at].child[1] >= 0) {
            at = t[at].child[1];
            while (t[at].child[0] >= 0)
                at = t[at].child[0];
            continue;
        }
        int from;
        do {
            from = at;
            at = t[at].parent;
        } while (at >= 0 && t[at].child[1] == from);
    }
    out[24] = (u32)root;
    out[25] = (u32)count;
}
