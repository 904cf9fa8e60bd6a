// Sobel's edges by a work-group, the border by clamped coordinates.
// words: 64 256
// grouped: yes
// run: local i32 1x64
// run: global i16 1x16
// run: local f32 2x32
#define WORKS 256
typedef element work_t;

static element at(MEM const element *image, int x, int y) {
    x = x < 0 ? 0 : x > 15 ? 15 : x;
    y = y < 0 ? 0 : y > 15 ? 15 : y;
    return image[y * 16 + x];
}

static void program(IN in, OUT out, MEM work_t *image) {
    EACH(i)
        for (u32 k = i; k < 256; k += GROUP)
            image[k] = (element)(in[k / 4] >> (k % 4 * 8) & 255);
    MEET();
    EACH(i)
        for (u32 k = i; k < 256; k += GROUP) {
            const int x = (int)(k % 16), y = (int)(k / 16);
            element gx = 0, gy = 0;
            for (int d = -1; d <= 1; d++) {
                const element weight = (element)(d == 0 ? 2 : 1);
                gx += weight * (at(image, x + 1, y + d) - at(image, x - 1, y + d));
                gy += weight * (at(image, x + d, y + 1) - at(image, x + d, y - 1));
            }
            if (gx < 0)
                gx = -gx;
            if (gy < 0)
                gy = -gy;
            out[k] = WORD_OF(gx + gy > 255 ? (element)255 : (element)(gx + gy));
        }
}
