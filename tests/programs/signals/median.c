// A running median of five by a window that is kept in order, and a running mean and greatest by a deque.
// words: 40 108
// run: private u32 1x8
// run: local u8 1x8
// run: global f32 1x4
#define WORKS 1
typedef struct {
    element window[5], deque_value[8];
    u8 deque_at[8];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int count = 0;
    for (int n = 0; n < 40; n++) {
        const element x = ELEMENT_OF(in[n]);
        if (count == 5) {
            const element old = ELEMENT_OF(in[n - 5]);
            int at = 0;
            while (w->window[at] != old)
                at++;
            for (; at < 4; at++)
                w->window[at] = w->window[at + 1];
            count--;
        }
        int at = count++;
        while (at > 0 && w->window[at - 1] > x) {
            w->window[at] = w->window[at - 1];
            at--;
        }
        w->window[at] = x;
        if (n >= 4)
            out[n - 4] = WORD_OF(w->window[2]);
    }
    element sum = 0;
    u32 head = 0, tail = 0;
    for (int n = 0; n < 40; n++) {
        const element x = ELEMENT_OF(in[n]);
        sum += x;
        if (n >= 5)
            sum -= ELEMENT_OF(in[n - 5]);
        while (tail != head && w->deque_value[(tail - 1) & 7] <= x)
            tail--;
        w->deque_value[tail & 7] = x;
        w->deque_at[tail++ & 7] = (u8)n;
        if (w->deque_at[head & 7] + 5 <= n)
            head++;
        if (n >= 4) {
            out[36 + n - 4] = WORD_OF(sum);
            out[72 + n - 4] = WORD_OF(w->deque_value[head & 7]);
        }
    }
}
