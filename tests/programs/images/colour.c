// Colours to hue, saturation and value and back in whole numbers; grey; palettes by the nearest of 16.
// words: 16 64
// run: private u8 1x16
// run: local i32 1x8
#define WORKS 48
typedef element work_t;

typedef struct {
    int h, s, v;
} hsv;

static hsv to_hsv(int r, int g, int b) {
    const int most = MAX(r, MAX(g, b)), least = MIN(r, MIN(g, b)), range = most - least;
    hsv c = {0, 0, most};
    if (range == 0)
        return c;
    c.s = range * 255 / most;
    if (most == r)
        c.h = (g - b) * 256 / range;
    else if (most == g)
        c.h = 512 + (b - r) * 256 / range;
    else
        c.h = 1024 + (r - g) * 256 / range;
    if (c.h < 0)
        c.h += 1536;
    return c;
}

static u32 from_hsv(hsv c) {
    const int sector = c.h >> 8, f = c.h & 255;
    const int p = c.v * (255 - c.s) / 255, q = c.v * (65280 - c.s * f) / 65280, t = c.v * (65280 - c.s * (256 - f)) / 65280;
    int r, g, b;
    switch (sector) {
    case 0: r = c.v, g = t, b = p; break;
    case 1: r = q, g = c.v, b = p; break;
    case 2: r = p, g = c.v, b = t; break;
    case 3: r = p, g = q, b = c.v; break;
    case 4: r = t, g = p, b = c.v; break;
    default: r = c.v, g = p, b = q;
    }
    return (u32)(r << 16 | g << 8 | b);
}

static void program(IN in, OUT out, MEM work_t *palette) {
    for (int i = 0; i < 16; i++) {
        palette[3 * i] = (element)(i & 4 ? 200 : 40);
        palette[3 * i + 1] = (element)(i & 2 ? 210 : 30);
        palette[3 * i + 2] = (element)(i & 1 ? 220 : i & 8 ? 90 : 20);
    }
    for (int i = 0; i < 16; i++) {
        const int r = (int)(in[i] >> 16 & 255), g = (int)(in[i] >> 8 & 255), b = (int)(in[i] & 255);
        const hsv c = to_hsv(r, g, b);
        int best = 0, least = 1 << 30;
        for (int k = 0; k < 16; k++) {
            const int dr = r - (int)palette[3 * k], dg = g - (int)palette[3 * k + 1], db = b - (int)palette[3 * k + 2];
            const int distance = dr * dr + dg * dg + db * db;
            if (distance < least) {
                least = distance;
                best = k;
            }
        }
        out[4 * i] = (u32)(c.h << 16 | c.s << 8 | c.v);
        out[4 * i + 1] = from_hsv(c);
        out[4 * i + 2] = (u32)(r * 77 + g * 151 + b * 28) >> 8;
        out[4 * i + 3] = (u32)best;
    }
}
