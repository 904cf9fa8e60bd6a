// Fixed-point numbers of 16 bits behind the point: products, quotients, polynomials, powers of two and logarithms.
// words: 8 40
// run: private i32 1x16
// run: global i32 2x4
#define WORKS 8
typedef i32 work_t;

static i32 times(i32 a, i32 b) { return (i32)(((i64)a * b + 0x8000) >> 16); }

static i32 over(i32 a, i32 b) { return b == 0 ? 0x7fffffff : (i32)(((i64)a * 65536) / b); }

static i32 power_of_two(i32 x) {
    const i32 whole = x >> 16, part = x & 0xffff;
    i32 y = 65536 + times(part, 45426 + times(part, 15743 + times(part, 3638 + times(part, 630))));
    return whole >= 0 ? y << MIN(whole, 12) : y >> MIN(-whole, 30);
}

static i32 logarithm(i32 x) {
    i32 y = 0;
    if (x <= 0)
        return -0x7fffffff;
    while (x < 65536) {
        x <<= 1;
        y -= 65536;
    }
    while (x >= 131072) {
        x >>= 1;
        y += 65536;
    }
    for (i32 bit = 32768; bit > 0; bit >>= 1) {
        x = (i32)((u64)x * (u64)x >> 16);
        if (x >= 131072) {
            x >>= 1;
            y += bit;
        }
    }
    return y;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++)
        w[i] = (i32)in[i] >> 11;
    for (int i = 0; i < 8; i++) {
        const i32 a = w[i], b = w[(i + 1) & 7];
        out[i] = (u32)times(a, b);
        out[8 + i] = (u32)over(a, b >> 4);
        out[16 + i] = (u32)power_of_two(a >> 1);
        out[24 + i] = (u32)logarithm(a);
        i32 clamped = times(a, b >> 2);
        clamped = clamped > 32767 ? 32767 : clamped < -32768 ? -32768 : clamped;
        out[32 + i] = (u32)(i16)clamped;
    }
}
