// Mandelbrot's and Julia's sets, with breaks out of two loops.
// words: 4 16
// run: private f32 2x16
// run: global f64 1x4
// run: private i32 1x8
#define WORKS 16
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *counts) {
    const float jx = (float)(in[0] & 255) / 128.0f - 1.0f, jy = (float)(in[1] & 255) / 128.0f - 1.0f;
    u32 inside = 0;
    for (int py = 0; py < 4; py++) {
        for (int px = 0; px < 4; px++) {
            float x = (float)px - 2.0f + (float)(in[2] & 63) / 64.0f, y = (float)py * 0.5f - 1.0f;
            const float cx = in[3] & 1 ? x : jx, cy = in[3] & 1 ? y : jy;
            int n = 0;
            for (;;) {
                const float xx = x * x, yy = y * y;
                if (xx + yy > 4.0f)
                    break;
                if (++n >= 200) {
                    inside++;
                    break;
                }
                y = 2.0f * x * y + cy;
                x = xx - yy + cx;
            }
            counts[4 * py + px] = (element)n;
        }
        if (inside > 9)
            break;
    }
    for (int i = 0; i < 16; i++)
        out[i] = i / 4 * 4 < 16 && inside <= 9 ? WORD_OF(counts[i]) : inside;
}
