// The Burrows-Wheeler transform of 24 symbols, and back.
// words: 24 25
// run: private u8 1x8
// run: local u8 1x8
#define WORKS 1
typedef struct {
    u8 text[24], last[24], order[24], next[24];
} work_t;

static int is_before(MEM const u8 *text, int a, int b) {
    for (int i = 0; i < 24; i++) {
        const int x = text[(a + i) % 24], y = text[(b + i) % 24];
        if (x != y)
            return x < y;
    }
    return a < b;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 24; i++) {
        w->text[i] = (u8)(in[i] % 3);
        w->order[i] = (u8)i;
    }
    for (int i = 1; i < 24; i++) {
        const u8 x = w->order[i];
        int j = i;
        for (; j > 0 && is_before(w->text, x, w->order[j - 1]); j--)
            w->order[j] = w->order[j - 1];
        w->order[j] = x;
    }
    int start = 0, at = 0;
    for (int i = 0; i < 24; i++) {
        w->last[i] = w->text[(w->order[i] + 23) % 24];
        if (w->order[i] == 0)
            start = i;
    }
    for (u8 c = 0; c < 3; c++)
        for (int i = 0; i < 24; i++)
            if (w->last[i] == c)
                w->next[at++] = (u8)i;
    int position = w->next[start];
    for (int i = 0; i < 24; i++) {
        out[i] = (u32)w->last[i] << 8 | w->last[position];
        position = w->next[position];
    }
    out[24] = (u32)start;
}
