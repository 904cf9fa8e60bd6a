// Quick sort with a stack of its own, small parts by insertion.
// words: 64 65
// run: private i32 1x16
// run: local u32 2x4
#define WORKS 1
typedef struct {
    element a[64];
    struct { short low, high; } stack[16];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int top = 0, deepest = 0;
    for (int i = 0; i < 64; i++)
        w->a[i] = ELEMENT_OF(in[i]);
    w->stack[top].low = 0;
    w->stack[top++].high = 63;
    while (top > 0) {
        top--;
        int low = w->stack[top].low, high = w->stack[top].high;
        if (high - low < 6) {
            for (int i = low + 1; i <= high; i++)
                for (int j = i; j > low && w->a[j - 1] > w->a[j]; j--) {
                    element t = w->a[j];
                    w->a[j] = w->a[j - 1];
                    w->a[j - 1] = t;
                }
            continue;
        }
        const element pivot = w->a[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (w->a[i] < pivot)
                i++;
            while (w->a[j] > pivot)
                j--;
            if (i <= j) {
                element t = w->a[i];
                w->a[i++] = w->a[j];
                w->a[j--] = t;
            }
        }
        const int first_is_larger = j - low > high - i;
        for (int turn = 0; turn < 2; turn++) {
            const int first = (turn == 0) == first_is_larger;
            const int a = first ? low : i, b = first ? j : high;
            if (a >= b)
                continue;
            w->stack[top].low = (short)a;
            w->stack[top++].high = (short)b;
        }
        deepest = MAX(deepest, top);
    }
    for (int i = 0; i < 64; i++)
        out[i] = WORD_OF(w->a[i]);
    out[64] = (u32)deepest;
}
