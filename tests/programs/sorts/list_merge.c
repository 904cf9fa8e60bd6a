// Merge sort of a linked list whose links are indices.
// words: 37 37
// run: private u32 1x8
// run: local i32 2x4
#define WORKS 1
typedef struct {
    element key[37];
    i8 next[37];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 37; i++) {
        w->key[i] = (element)(in[i] & 0x7fffffffu);
        w->next[i] = (i8)(i < 36 ? i + 1 : -1);
    }
    int head = 0;
    for (int size = 1;; size *= 2) {
        int p = head, tail = -1, merges = 0;
        head = -1;
        while (p >= 0) {
            int q = p, p_count = 0, q_count = size;
            merges++;
            for (int i = 0; i < size && q >= 0; i++) {
                p_count++;
                q = w->next[q];
            }
            while (p_count > 0 || (q_count > 0 && q >= 0)) {
                int taken;
                if (p_count == 0 || (q_count > 0 && q >= 0 && w->key[q] < w->key[p])) {
                    taken = q;
                    q = w->next[q];
                    q_count--;
                } else {
                    taken = p;
                    p = w->next[p];
                    p_count--;
                }
                if (tail < 0)
                    head = taken;
                else
                    w->next[tail] = (i8)taken;
                tail = taken;
            }
            p = q;
        }
        w->next[tail] = -1;
        if (merges <= 1)
            break;
    }
    int at = 0;
    for (int p = head; p >= 0; p = w->next[p])
        out[at++] = WORD_OF(w->key[p]);
    while (at < 37)
        out[at++] = 0;
}
