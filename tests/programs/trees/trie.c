// A trie over bits: insertion, longest prefix and greatest difference.
// words: 20 14
// run: private i16 1x8
// run: global u8 2x2
#define WORKS 1
typedef struct {
    element child[100][2];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int nodes = 1;
    w->child[0][0] = w->child[0][1] = 0;
    for (int i = 0; i < 12; i++) {
        int at = 0;
        for (int bit = 7; bit >= 0; bit--) {
            const int side = (int)(in[i] >> bit & 1);
            if (!w->child[at][side]) {
                w->child[nodes][0] = w->child[nodes][1] = 0;
                w->child[at][side] = (element)nodes++;
            }
            at = w->child[at][side];
        }
    }
    for (int i = 0; i < 8; i++) {
        int at = 0, length = 0, far = 0;
        u32 difference = 0;
        for (int bit = 7; bit >= 0; bit--) {
            const int side = (int)(in[12 + i] >> bit & 1);
            if (at >= 0 && w->child[at][side]) {
                at = w->child[at][side];
                length++;
            } else {
                at = -1;
            }
            if (w->child[far][!side]) {
                far = w->child[far][!side];
                difference |= 1u << bit;
            } else {
                far = w->child[far][side];
            }
        }
        out[i] = difference << 8 | (u32)length;
    }
    u32 leaves = 0, only = 0, sum = 0;
    for (int i = 0; i < nodes; i++) {
        leaves += !w->child[i][0] && !w->child[i][1];
        only += !w->child[i][0] != !w->child[i][1];
        sum = sum * 31 + (u32)w->child[i][1];
    }
    out[8] = leaves;
    out[9] = only;
    out[10] = sum;
    out[11] = (u32)nodes;
    out[12] = out[13] = 0;
}
