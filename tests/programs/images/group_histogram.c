// A histogram by a work-group: one of each work-item's own, then sums by columns and a prefix sum.
// words: 64 32
// grouped: yes
// run: local u16 2x16
// run: local u32 1x32
// run: global u8 1x8
#define WORKS 1
typedef struct {
    element own[GROUP][16];
    u32 total[16], sums[2][16];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    EACH(i) {
        for (int b = 0; b < 16; b++)
            w->own[i][b] = 0;
        for (u32 k = i; k < 64; k += GROUP)
            for (u32 x = in[k]; x; x >>= 4)
                w->own[i][x & 15]++;
    }
    MEET();
    EACH(i)
        for (u32 b = i; b < 16; b += GROUP) {
            u32 sum = 0;
            for (u32 k = 0; k < GROUP; k++)
                sum += (u32)w->own[k][b];
            w->total[b] = w->sums[0][b] = sum;
        }
    MEET();
    u32 from = 0;
    for (u32 step = 1; step < 16; step *= 2) {
        EACH(i)
            for (u32 b = i; b < 16; b += GROUP)
                w->sums[1 - from][b] = w->sums[from][b] + (b >= step ? w->sums[from][b - step] : 0);
        MEET();
        from = 1 - from;
    }
    EACH(i)
        for (u32 b = i; b < 16; b += GROUP) {
            out[b] = w->total[b];
            out[16 + b] = w->sums[from][b];
        }
}
