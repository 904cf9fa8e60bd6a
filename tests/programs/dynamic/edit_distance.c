// Edit distances with one row, over all prefixes.
// words: 32 17
// run: private u8 1x16
// run: local i32 1x8
// run: global f32 1x4
#define WORKS 17
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *row) {
    for (int j = 0; j <= 16; j++)
        row[j] = (element)j;
    for (int i = 1; i <= 16; i++) {
        element diagonal = row[0];
        row[0] = (element)i;
        for (int j = 1; j <= 16; j++) {
            const element kept = row[j];
            const int same = in[i - 1] % 3 == in[16 + j - 1] % 3;
            element best = (element)(diagonal + (same ? 0 : 1));
            if (row[j] + 1 < best)
                best = (element)(row[j] + 1);
            if (row[j - 1] + 1 < best)
                best = (element)(row[j - 1] + 1);
            row[j] = best;
            diagonal = kept;
        }
    }
    for (int j = 0; j <= 16; j++)
        out[j] = WORD_OF(row[j]);
}
