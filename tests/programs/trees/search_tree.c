// A binary search tree in arrays: insertion, search, deletion, and a walk in order with a stack.
// words: 40 42
// run: private u32 1x8
// run: local u16 1x8
#define WORKS 1
typedef struct {
    element key[32];
    i8 left[32], right[32];
    i8 stack[32];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int root = -1, count = 0;
    for (int i = 0; i < 32; i++) {
        const element key = (element)(in[i] % 61);
        int at = root, parent = -1;
        while (at >= 0 && w->key[at] != key) {
            parent = at;
            at = key < w->key[at] ? w->left[at] : w->right[at];
        }
        if (at >= 0)
            continue;
        w->key[count] = key;
        w->left[count] = w->right[count] = -1;
        if (parent < 0)
            root = count;
        else if (key < w->key[parent])
            w->left[parent] = (i8)count;
        else
            w->right[parent] = (i8)count;
        count++;
    }
    u32 deleted = 0;
    for (int i = 32; i < 40; i++) {
        const element key = (element)(in[i] % 61);
        int at = root, parent = -1;
        while (at >= 0 && w->key[at] != key) {
            parent = at;
            at = key < w->key[at] ? w->left[at] : w->right[at];
        }
        if (at < 0)
            continue;
        deleted++;
        if (w->left[at] >= 0 && w->right[at] >= 0) {
            int next = w->right[at];
            parent = at;
            while (w->left[next] >= 0) {
                parent = next;
                next = w->left[next];
            }
            w->key[at] = w->key[next];
            at = next;
        }
        const i8 child = w->left[at] >= 0 ? w->left[at] : w->right[at];
        if (parent < 0)
            root = child;
        else if (w->left[parent] == at)
            w->left[parent] = child;
        else
            w->right[parent] = child;
    }
    int top = 0, at = root, listed = 0, deepest = 0;
    while (at >= 0 || top > 0) {
        for (; at >= 0; at = w->left[at])
            w->stack[top++] = (i8)at;
        deepest = MAX(deepest, top);
        at = w->stack[--top];
        out[listed++] = WORD_OF(w->key[at]);
        at = w->right[at];
    }
    while (listed < 40)
        out[listed++] = 0xffffffffu;
    out[40] = deleted;
    out[41] = (u32)deepest;
}
