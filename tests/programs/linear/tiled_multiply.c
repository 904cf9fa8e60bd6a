// A matrix product in which every work-item keeps a tile of 2 by 2 in private memory and the group moves over panels.
// words: 128 64
// grouped: yes
// run: local f32 2x16
// run: local i16 1x16
#define WORKS 1
typedef struct {
    element a[8][2], b[2][8];
    element sums[16][4];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    EACH(i)
        for (int k = 0; k < 4; k++)
            w->sums[i][k] = 0;
    for (u32 panel = 0; panel < 8; panel += 2) {
        EACH(i) {
            w->a[i / 2][i % 2] = (element)(in[i / 2 * 8 + panel + i % 2] % 50);
            w->b[i % 2][i / 2] = (element)(in[64 + (panel + i % 2) * 8 + i / 2] % 50);
        }
        MEET();
        EACH(i) {
            const u32 row = i / 4 * 2, column = i % 4 * 2;
            element tile[2][2];
            for (int r = 0; r < 2; r++)
                for (int c = 0; c < 2; c++)
                    tile[r][c] = w->sums[i][2 * r + c];
            for (int k = 0; k < 2; k++)
                for (int r = 0; r < 2; r++)
                    for (int c = 0; c < 2; c++)
                        tile[r][c] += w->a[row + r][k] * w->b[k][column + c];
            for (int r = 0; r < 2; r++)
                for (int c = 0; c < 2; c++)
                    w->sums[i][2 * r + c] = tile[r][c];
        }
        MEET();
    }
    EACH(i) {
        const u32 row = i / 4 * 2, column = i % 4 * 2;
        for (u32 k = 0; k < 4; k++)
            out[(row + k / 2) * 8 + column + k % 2] = WORD_OF(w->sums[i][k]);
    }
}
