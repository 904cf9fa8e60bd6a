// Lines by Bresenham and circles by midpoints, into rows of bits.
// words: 8 16
// run: private u16 1x16
// run: local u32 1x8
// run: global u8 1x4
#define WORKS 256
typedef element work_t;

static void dot(MEM element *image, int x, int y, element ink) {
    if (x < 0 || x > 15 || y < 0 || y > 15)
        return;
    image[y * 16 + x] ^= ink;
}

static void program(IN in, OUT out, MEM work_t *image) {
    for (int i = 0; i < 256; i++)
        image[i] = 0;
    for (int n = 0; n < 6; n++) {
        int x = (int)(in[n] & 15), y = (int)(in[n] >> 4 & 15);
        const int x1 = (int)(in[n] >> 8 & 15), y1 = (int)(in[n] >> 12 & 15);
        const int dx = x1 > x ? x1 - x : x - x1, dy = y1 > y ? y - y1 : y1 - y;
        const int sx = x < x1 ? 1 : -1, sy = y < y1 ? 1 : -1;
        int error = dx + dy;
        for (;;) {
            dot(image, x, y, (element)(n + 1));
            if (x == x1 && y == y1)
                break;
            const int twice = 2 * error;
            if (twice >= dy) {
                error += dy;
                x += sx;
            }
            if (twice <= dx) {
                error += dx;
                y += sy;
            }
        }
    }
    for (int n = 6; n < 8; n++) {
        const int cx = (int)(in[n] & 15), cy = (int)(in[n] >> 4 & 15);
        int x = (int)(in[n] >> 8 & 7) + 2, y = 0, error = 1 - x;
        while (x >= y) {
            for (int k = 0; k < 8; k++) {
                const int a = k & 1 ? y : x, b = k & 1 ? x : y;
                dot(image, cx + (k & 2 ? -a : a), cy + (k & 4 ? -b : b), 8);
            }
            y++;
            if (error < 0) {
                error += 2 * y + 1;
            } else {
                x--;
                error += 2 * (y - x) + 1;
            }
        }
    }
    for (int y = 0; y < 16; y++) {
        u32 row = 0;
        for (int x = 0; x < 16; x++)
            row = row * 13 + (u32)image[y * 16 + x];
        out[y] = row;
    }
}
