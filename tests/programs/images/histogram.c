// A histogram, equalization by it, Otsu's threshold, and percentiles.
// words: 32 70
// run: private u32 1x8
// run: local u16 1x8
// run: global u8 1x4
#define WORKS 32
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *bins) {
    for (int i = 0; i < 32; i++)
        bins[i] = 0;
    for (int i = 0; i < 128; i++) {
        const u32 v = in[i / 4] >> (i % 4 * 8) & 255;
        bins[(v * v) >> 11]++;
    }
    u32 sum = 0, weighted = 0, below = 0, below_weighted = 0;
    for (u32 i = 0; i < 32; i++) {
        out[i] = WORD_OF(bins[i]);
        weighted += i * (u32)bins[i];
    }
    for (u32 i = 0; i < 32; i++) {
        sum += (u32)bins[i];
        out[32 + i] = (sum * 255 + 64) / 128;
    }
    u32 threshold = 0;
    u64 best = 0;
    for (u32 i = 0; i < 31; i++) {
        below += (u32)bins[i];
        below_weighted += i * (u32)bins[i];
        const u32 above = 128 - below;
        if (below == 0)
            continue;
        if (above == 0)
            break;
        const i64 difference = (i64)below_weighted * above - (i64)(weighted - below_weighted) * below;
        const u64 between = (u64)(difference * difference) / ((u64)below * above);
        if (between > best) {
            best = between;
            threshold = i;
        }
    }
    out[64] = threshold;
    out[65] = (u32)best;
    for (u32 p = 1; p < 5; p++) {
        u32 left = p * 128 / 5, i = 0;
        while (left >= (u32)bins[i]) {
            left -= (u32)bins[i];
            i++;
        }
        out[65 + p] = i << 8 | left;
    }
}
