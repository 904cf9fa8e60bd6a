// Nodes that point at each other: a list that is reversed, and a tree walked by pointers to pointers.
// words: 20 42
// run: private u32 1x8
// run: local i16 1x8
// run: global u32 2x2
#define WORKS 1
struct node {
    element value;
    MEM struct node *next, *left, *right;
};
typedef struct {
    struct node nodes[20];
    MEM struct node *root;
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    MEM struct node *head = 0;
    w->root = 0;
    for (int i = 0; i < 20; i++) {
        MEM struct node *n = &w->nodes[i];
        n->value = (element)(in[i] >> 4 & 0x3ff);
        n->next = head;
        n->left = n->right = 0;
        head = n;
        MEM struct node *MEM *link = &w->root;
        while (*link)
            link = n->value < (*link)->value ? &(*link)->left : &(*link)->right;
        *link = n;
    }
    MEM struct node *reversed = 0;
    while (head) {
        MEM struct node *next = head->next;
        head->next = reversed;
        reversed = head;
        head = next;
    }
    int count = 0;
    for (MEM const struct node *p = reversed; p; p = p->next)
        out[count++] = WORD_OF(p->value);
    /* In order without a stack: a thread to the next node is hung in and taken away again. */
    MEM struct node *at = w->root;
    while (at) {
        if (!at->left) {
            out[count++] = WORD_OF(at->value);
            at = at->right;
            continue;
        }
        MEM struct node *last = at->left;
        while (last->right && last->right != at)
            last = last->right;
        if (!last->right) {
            last->right = at;
            at = at->left;
        } else {
            last->right = 0;
            out[count++] = WORD_OF(at->value);
            at = at->right;
        }
    }
    out[40] = (u32)count;
    out[41] = (u32)(w->root - w->nodes);
}
