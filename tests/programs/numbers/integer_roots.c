// Integer square and cube roots bit by bit, integer logarithms, and bit tricks written out.
// words: 8 48
// run: private u32 1x16
// run: local u32 1x8
#define WORKS 8
typedef u32 work_t;

static u32 square_root(u32 x) {
    u32 root = 0, bit = 1u << 30;
    while (bit > x)
        bit >>= 2;
    while (bit) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    return root;
}

static u32 cube_root(u32 x) {
    u32 y = 0;
    for (int s = 30; s >= 0; s -= 3) {
        y += y;
        const u32 b = 3 * y * (y + 1) + 1;
        if (x >> s >= b) {
            x -= b << s;
            y++;
        }
    }
    return y;
}

static u32 logarithm10(u32 x) {
    u32 digits = 0;
    while (x >= 10) {
        x /= 10;
        digits++;
    }
    return digits;
}

static u32 ones(u32 x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static u32 reversed(u32 x) {
    u32 y = 0;
    for (int i = 0; i < 32; i++, x >>= 1)
        y = y << 1 | (x & 1);
    return y;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++)
        w[i] = in[i] >> (4 * i);
    for (int i = 0; i < 8; i++) {
        out[i] = square_root(w[i]);
        out[8 + i] = cube_root(w[i]);
        out[16 + i] = logarithm10(w[i]);
        out[24 + i] = ones(w[i]);
        out[32 + i] = reversed(w[i]);
        u32 next = w[i] | 1;
        const u32 lowest = next & (0 - next), ripple = next + lowest;
        out[40 + i] = ripple | (ripple ^ next) / lowest >> 2;
    }
}
