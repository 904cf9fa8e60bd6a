// The longest common subsequence, and one of them.
// words: 20 22
// run: private u8 1x16
// run: local u8 1x4
// run: global i32 1x4
#define WORKS 1
typedef struct {
    element length[21][21];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i <= 20; i++)
        for (int j = 0; j <= 20; j++) {
            if (i == 0 || j == 0)
                w->length[i][j] = 0;
            else if ((in[i - 1] & 3) == (in[j - 1] >> 8 & 3))
                w->length[i][j] = (element)(w->length[i - 1][j - 1] + 1);
            else
                w->length[i][j] = MAX(w->length[i - 1][j], w->length[i][j - 1]);
        }
    int i = 20, j = 20, count = 0;
    while (i > 0 && j > 0) {
        if ((in[i - 1] & 3) == (in[j - 1] >> 8 & 3)) {
            out[count++] = in[i - 1] & 3;
            i--, j--;
        } else if (w->length[i - 1][j] >= w->length[i][j - 1]) {
            i--;
        } else {
            j--;
        }
    }
    out[20] = WORD_OF(w->length[20][20]);
    out[21] = (u32)count;
    while (count < 20)
        out[count++] = 77;
}
