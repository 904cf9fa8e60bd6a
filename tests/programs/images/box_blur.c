// Sums of areas, and means of boxes by them; the same by a work-group in tiles with a halo.
// words: 64 128
// grouped: yes
// run: local u32 1x16
// run: global f32 1x32
#define WORKS 1
typedef struct {
    element sums[9][9], tile[10][10];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    EACH(i)
        for (u32 k = i; k < 100; k += GROUP) {
            const int x = (int)(k % 10) - 1, y = (int)(k / 10) - 1;
            const int inside = x >= 0 && x < 8 && y >= 0 && y < 8;
            w->tile[k / 10][k % 10] = inside ? (element)(in[8 * y + x] & 255) : 0;
            if (k < 81)
                w->sums[k / 9][k % 9] = 0;
        }
    MEET();
    EACH(i)
        if (i < 8)
            for (int x = 0; x < 8; x++)
                w->sums[i + 1][x + 1] = w->sums[i + 1][x] + w->tile[i + 1][x + 1];
    MEET();
    EACH(i)
        if (i < 8)
            for (int y = 0; y < 8; y++)
                w->sums[y + 1][i + 1] += w->sums[y][i + 1];
    MEET();
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP) {
            const int x = (int)(k % 8), y = (int)(k / 8);
            const int x0 = MAX(x - 1, 0), x1 = MIN(x + 2, 8), y0 = MAX(y - 1, 0), y1 = MIN(y + 2, 8);
            out[k] = WORD_OF(w->sums[y1][x1] - w->sums[y0][x1] - w->sums[y1][x0] + w->sums[y0][x0]);
            element sum = 0;
            for (int v = 0; v < 3; v++)
                for (int u = 0; u < 3; u++)
                    sum += w->tile[y + v][x + u];
            out[64 + k] = WORD_OF(sum);
        }
}
