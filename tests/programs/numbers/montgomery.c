// Montgomery multiplication of 64-bit numbers, and powers by it.
// words: 6 6
// run: private u64 1x8
// run: global u64 2x4
#define WORKS 16
typedef element work_t;

static u64 high_product(u64 a, u64 b) {
    const u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    const u64 low = a0 * b0, m1 = a1 * b0 + (low >> 32), m2 = a0 * b1 + (m1 & 0xffffffffu);
    return a1 * b1 + (m1 >> 32) + (m2 >> 32);
}

static u64 reduce(u64 high, u64 low, u64 n, u64 inverse) {
    const u64 q = low * inverse, t = high_product(q, n);
    return high >= t ? high - t : high - t + n;
}

static void program(IN in, OUT out, MEM work_t *powers) {
    const u64 n = ((u64)in[1] << 32 | in[0] | 1) >> 1 | 1;
    u64 inverse = n, one = 1, x = (u64)in[3] << 32 | in[2];
    for (int i = 0; i < 5; i++)
        inverse *= 2 - n * inverse;
    one = (0 - n) % n;
    u64 square = one;
    for (int i = 0; i < 64; i++)
        square = square >= n - square ? square - (n - square) : square + square;
    x %= n;
    x = reduce(high_product(x, square), x * square, n, inverse);
    powers[0] = one;
    for (int i = 1; i < 16; i++)
        powers[i] = reduce(high_product(powers[i - 1], x), powers[i - 1] * x, n, inverse);
    u64 result = one;
    for (int i = 7; i >= 0; i--) {
        for (int k = 0; k < 4; k++)
            result = reduce(high_product(result, result), result * result, n, inverse);
        const u64 digit = powers[in[4] >> (4 * i) & 15];
        result = reduce(high_product(result, digit), result * digit, n, inverse);
    }
    const u64 plain = reduce(0, result, n, inverse);
    out[0] = (u32)inverse, out[1] = (u32)(inverse >> 32);
    out[2] = (u32)result, out[3] = (u32)(result >> 32);
    out[4] = (u32)plain, out[5] = (u32)(plain >> 32);
}
