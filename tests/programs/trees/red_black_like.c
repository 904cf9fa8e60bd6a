// A tree balanced by heights (AVL), with its path in a stack.
// words: 30 32
// run: private i32 1x8
// run: local u16 1x4
#define WORKS 1
typedef struct {
    element key[31];
    i8 child[31][2], height[31];
    i8 path[16];
} work_t;

static int height(MEM const work_t *w, int at) { return at < 0 ? 0 : w->height[at]; }

static void measure(MEM work_t *w, int at) {
    const int a = height(w, w->child[at][0]), b = height(w, w->child[at][1]);
    w->height[at] = (i8)(1 + MAX(a, b));
}

static int rotate(MEM work_t *w, int at, int side) {
    const int up = w->child[at][!side];
    w->child[at][!side] = w->child[up][side];
    w->child[up][side] = (i8)at;
    measure(w, at);
    measure(w, up);
    return up;
}

static int balanced(MEM work_t *w, int at) {
    measure(w, at);
    const int tilt = height(w, w->child[at][0]) - height(w, w->child[at][1]);
    if (tilt >= -1 && tilt <= 1)
        return at;
    const int side = tilt < 0, deep = w->child[at][side];
    if (height(w, w->child[deep][!side]) > height(w, w->child[deep][side]))
        w->child[at][side] = (i8)rotate(w, deep, side);
    return rotate(w, at, !side);
}

static void program(IN in, OUT out, MEM work_t *w) {
    int root = -1;
    for (int i = 0; i < 30; i++) {
        const element key = (element)(i < 12 ? i * 3 : (int)(in[i] % 500));
        int top = 0, at = root;
        while (at >= 0) {
            w->path[top++] = (i8)at;
            at = w->child[at][key > w->key[at]];
        }
        w->key[i] = key;
        w->child[i][0] = w->child[i][1] = -1;
        w->height[i] = 1;
        int below = i;
        while (top-- > 0) {
            const int parent = w->path[top];
            w->child[parent][w->key[i] > w->key[parent]] = (i8)below;
            below = balanced(w, parent);
        }
        root = below;
    }
    int top = 0, at = root, count = 0;
    for (;;) {
        if (at >= 0) {
            w->path[top++] = (i8)at;
            at = w->child[at][0];
        } else if (top > 0) {
            at = w->path[--top];
            out[count++] = WORD_OF(w->key[at]);
            at = w->child[at][1];
        } else {
            break;
        }
    }
    out[30] = (u32)w->height[root];
    out[31] = (u32)count;
}
