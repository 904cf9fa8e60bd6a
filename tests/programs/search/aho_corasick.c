// A trie of words with failure links, run over a text.
// words: 120 11
// run: private u8 1x8
// run: global u16 2x4
#define WORKS 1
typedef struct {
    element next[24][3];
    u8 fail[24], ends[24], queue[24];
    u32 count[5];
} work_t;

TABLE(u8) words[5][5] = {{0, 1, 9, 9, 9}, {1, 0, 1, 9, 9}, {2, 2, 9, 9, 9}, {0, 1, 0, 2, 9}, {1, 2, 0, 1, 9}};

static void program(IN in, OUT out, MEM work_t *w) {
    int nodes = 1;
    for (int i = 0; i < 24; i++) {
        for (int c = 0; c < 3; c++)
            w->next[i][c] = 0;
        w->ends[i] = 0;
        w->fail[i] = 0;
    }
    for (int k = 0; k < 5; k++) {
        int node = 0;
        w->count[k] = 0;
        for (int i = 0; i < 5 && words[k][i] != 9; i++) {
            MEM element *next = &w->next[node][words[k][i]];
            if (!*next)
                *next = (element)nodes++;
            node = *next;
        }
        w->ends[node] |= (u8)(1 << k);
    }
    int first = 0, last = 0;
    for (int c = 0; c < 3; c++)
        if (w->next[0][c])
            w->queue[last++] = (u8)w->next[0][c];
    while (first < last) {
        const int node = w->queue[first++];
        w->ends[node] |= w->ends[w->fail[node]];
        for (int c = 0; c < 3; c++) {
            const int child = w->next[node][c], through = w->next[w->fail[node]][c];
            if (!child) {
                w->next[node][c] = (element)through;
                continue;
            }
            w->fail[child] = (u8)through;
            w->queue[last++] = (u8)child;
        }
    }
    int state = 0;
    u32 trace = 0;
    for (int i = 0; i < 120; i++) {
        state = w->next[state][in[i] % 3];
        trace = trace * 33 + (u32)state;
        for (int k = 0; k < 5; k++)
            if (w->ends[state] >> k & 1)
                w->count[k]++;
    }
    for (int k = 0; k < 5; k++)
        out[k] = w->count[k];
    for (int k = 0; k < 4; k++)
        out[5 + k] = w->fail[2 * k + 3];
    out[9] = (u32)nodes;
    out[10] = trace;
}
