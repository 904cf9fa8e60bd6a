// Nearest and bilinear scaling in fixed point, channels of packed words, and alpha over.
// words: 16 108
// run: private u8 1x8
// run: local u16 1x8
// run: global u32 1x4
#define WORKS 1
typedef struct {
    union { u32 word; u8 channel[4]; } texel[16];
    element line[9];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 16; i++)
        w->texel[i].word = in[i];
    for (int y = 0; y < 9; y++) {
        const int fy = y * 3 * 256 / 8, y0 = fy >> 8, y1 = MIN(y0 + 1, 3);
        for (int x = 0; x < 9; x++) {
            const int fx = x * 3 * 256 / 8, x0 = fx >> 8, x1 = MIN(x0 + 1, 3);
            u32 word = 0;
            for (int c = 0; c < 4; c++) {
                const int top = w->texel[4 * y0 + x0].channel[c] * (256 - (fx & 255)) +
                                w->texel[4 * y0 + x1].channel[c] * (fx & 255);
                const int bottom = w->texel[4 * y1 + x0].channel[c] * (256 - (fx & 255)) +
                                   w->texel[4 * y1 + x1].channel[c] * (fx & 255);
                word |= (u32)((top * (256 - (fy & 255)) + bottom * (fy & 255)) >> 16) << (8 * c);
            }
            out[9 * y + x] = word;
        }
    }
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 9; x++) {
            const u32 over = w->texel[4 * y + x * 4 / 9].word, under = out[9 * y + x], alpha = over >> 24;
            u32 word = 0;
            for (int shift = 0; shift < 32; shift += 8) {
                const u32 t = (over >> shift & 255) * alpha + (under >> shift & 255) * (255 - alpha) + 128;
                word |= ((t + (t >> 8)) >> 8) << shift;
            }
            w->line[x] = (element)word;
            out[81 + 9 * y + x] = word ^ WORD_OF(w->line[x]);
        }
    }
}
