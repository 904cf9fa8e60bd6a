// A Huffman code of eight symbols, the text in it, and back.
// words: 48 58
// run: private u16 1x8
// run: local u32 1x8
// run: global u8 1x4
#define WORKS 1
typedef struct {
    element weight[15];
    i8 left[15], right[15], parent[15];
    u8 code_length[8], code[8];
    u8 bits[64];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 15; i++) {
        w->weight[i] = i < 8;
        w->left[i] = w->right[i] = w->parent[i] = -1;
    }
    for (int i = 0; i < 48; i++) {
        const u32 s = in[i] & 63;
        w->weight[s >= 32 ? 0 : s >= 16 ? 1 : s >= 8 ? 2 : s % 8]++;
    }
    for (int node = 8; node < 15; node++) {
        int least = -1, next = -1;
        for (int i = 0; i < node; i++) {
            if (w->parent[i] >= 0)
                continue;
            if (least < 0 || w->weight[i] < w->weight[least]) {
                next = least;
                least = i;
            } else if (next < 0 || w->weight[i] < w->weight[next]) {
                next = i;
            }
        }
        w->left[node] = (i8)least;
        w->right[node] = (i8)next;
        w->parent[least] = w->parent[next] = (i8)node;
        w->weight[node] = (element)(w->weight[least] + w->weight[next]);
    }
    for (int i = 0; i < 8; i++) {
        u8 code = 0, length = 0;
        for (int node = i; w->parent[node] >= 0; node = w->parent[node]) {
            if (w->right[w->parent[node]] == node)
                code |= (u8)(1 << length);
            length++;
        }
        w->code[i] = code;
        w->code_length[i] = length;
        out[i] = (u32)code << 8 | length;
    }
    for (int i = 0; i < 64; i++)
        w->bits[i] = 0;
    u32 position = 0;
    for (int i = 0; i < 48; i++) {
        const u32 s = in[i] & 63, symbol = s >= 32 ? 0 : s >= 16 ? 1 : s >= 8 ? 2 : s % 8;
        for (int b = w->code_length[symbol] - 1; b >= 0; b--, position++)
            if (w->code[symbol] >> b & 1)
                w->bits[position >> 3] |= (u8)(128 >> (position & 7));
    }
    u32 read = 0;
    for (int i = 0; i < 48; i++) {
        int node = 14;
        while (w->left[node] >= 0) {
            node = w->bits[read >> 3] & 128 >> (read & 7) ? w->right[node] : w->left[node];
            read++;
        }
        out[8 + i] = (u32)node;
    }
    out[56] = position;
    out[57] = read;
}
