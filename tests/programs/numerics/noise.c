// Perlin's noise over a shuffled table, in fixed point and in floats.
// words: 6 20
// run: private u8 1x4
// run: local u8 1x8
// run: global u16 2x2
#define WORKS 64
typedef element work_t;

static float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

static float gradient(u32 hash, float x, float y) {
    const float u = hash & 4 ? y : x, v = hash & 4 ? x : y;
    return (hash & 1 ? -u : u) + (hash & 2 ? -2.0f * v : 2.0f * v);
}

static float noise(MEM const element *table, float x, float y) {
    const int ix = (int)x, iy = (int)y;
    const float fx = x - (float)ix, fy = y - (float)iy;
    float corner[2][2];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const u32 hash = (u32)table[((u32)table[(ix + i) & 63] + (u32)(iy + j)) & 63];
            corner[j][i] = gradient(hash, fx - (float)i, fy - (float)j);
        }
    const float u = fade(fx), v = fade(fy);
    const float a = corner[0][0] + u * (corner[0][1] - corner[0][0]), b = corner[1][0] + u * (corner[1][1] - corner[1][0]);
    return a + v * (b - a);
}

static void program(IN in, OUT out, MEM work_t *table) {
    u32 state = in[0];
    for (int i = 0; i < 64; i++)
        table[i] = (element)i;
    for (int i = 63; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        const int j = (int)((state >> 16) % ((u32)i + 1));
        const element t = table[i];
        table[i] = table[j];
        table[j] = t;
    }
    for (int n = 0; n < 20; n++) {
        const float x = (float)(in[1 + n % 5] >> n & 1023) / 64.0f, y = (float)(in[1 + (n + 1) % 5] >> n & 1023) / 32.0f;
        float sum = 0, scale = 1;
        for (int octave = 0; octave < 3; octave++) {
            sum += noise(table, x / scale, y / scale) * scale;
            scale *= 0.5f;
        }
        out[n] = as_uint(sum);
    }
}
