// The longest rising subsequence by patience, the largest sum of a run, the largest product, and coin change.
// words: 32 8
// run: private i32 1x16
// run: local i16 1x8
// run: global i64 1x4
#define WORKS 1
typedef struct {
    element tails[32];
    u32 ways[64];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int length = 0;
    for (int i = 0; i < 32; i++) {
        const element x = (element)((i32)(in[i] % 200) - 100);
        int low = 0, high = length;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (w->tails[middle] < x)
                low = middle + 1;
            else
                high = middle;
        }
        w->tails[low] = x;
        if (low == length)
            length++;
    }
    i32 best = -1000, sum = 0, from = 0, start = 0, end = 0;
    for (i32 i = 0; i < 32; i++) {
        const i32 x = (i32)(in[i] % 200) - 100;
        if (sum < 0) {
            sum = 0;
            from = i;
        }
        sum += x;
        if (sum > best) {
            best = sum;
            start = from;
            end = i;
        }
    }
    for (int i = 0; i < 64; i++)
        w->ways[i] = i == 0;
    for (int c = 0; c < 5; c++) {
        const int coin = 1 + c * (int)(in[c] % 4 + 2);
        for (int i = coin; i < 64; i++)
            w->ways[i] += w->ways[i - coin];
    }
    out[0] = (u32)length;
    out[1] = WORD_OF(w->tails[length - 1]);
    out[2] = WORD_OF(w->tails[0]);
    out[3] = (u32)best;
    out[4] = (u32)(start << 8 | end);
    out[5] = w->ways[63];
    out[6] = w->ways[31];
    out[7] = w->ways[7];
}
