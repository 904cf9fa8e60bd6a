// Addition, multiplication, division and square root of floats by integers, rounded to nearest even, beside the device's own sum and product.
// words: 16 48
// run: private u32 1x16
// run: local u32 1x8
#define WORKS 16
typedef u32 work_t;

/* A float of a sign, an exponent and a fraction of 32 bits whose highest is set, with a bit for what was lost. */
static u32 rounded(u32 sign, int exponent, u32 fraction, u32 lost) {
    u32 kept = fraction >> 8;
    const u32 rest = fraction & 255;
    if (rest > 128 || (rest == 128 && (lost || (kept & 1))))
        kept++;
    if (kept >> 24) {
        kept >>= 1;
        exponent++;
    }
    return sign | (u32)(exponent + 127) << 23 | (kept & 0x7fffff);
}

static u32 multiply(u32 a, u32 b) {
    const u64 product = (u64)(a << 8 | 0x80000000u) * (b << 8 | 0x80000000u);
    int exponent = (int)(a >> 23 & 255) + (int)(b >> 23 & 255) - 253;
    u64 fraction = product;
    if (!(fraction >> 63)) {
        fraction <<= 1;
        exponent--;
    }
    return rounded((a ^ b) & 0x80000000u, exponent, (u32)(fraction >> 32), (u32)fraction);
}

static u32 divide(u32 a, u32 b) {
    const u64 x = (u64)(a << 8 | 0x80000000u) << 31, y = b << 8 | 0x80000000u;
    u64 q = x / y;
    u32 lost = x % y != 0;
    int exponent = (int)(a >> 23 & 255) - (int)(b >> 23 & 255);
    if (q >> 32) {
        lost |= (u32)q & 1;
        q >>= 1;
        exponent++;
    }
    if (!(q >> 31)) {
        /* One more bit of the quotient. */
        const u64 r = x % y * 2;
        q = q << 1 | (r >= y);
        lost = r % y != 0;
        exponent--;
    }
    return rounded((a ^ b) & 0x80000000u, exponent, (u32)q, lost);
}

static u32 add(u32 a, u32 b) {
    if ((a & 0x7fffffff) < (b & 0x7fffffff)) {
        const u32 t = a;
        a = b;
        b = t;
    }
    int exponent = (int)(a >> 23 & 255) - 127;
    const int distance = (int)(a >> 23 & 255) - (int)(b >> 23 & 255);
    u64 x = (u64)(a << 8 | 0x80000000u) << 30, y = (u64)(b << 8 | 0x80000000u) << 30;
    u64 lost = 0;
    if (distance > 0) {
        lost = distance > 62 ? 1 : (y & (((u64)1 << distance) - 1)) != 0;
        y = distance > 62 ? 0 : y >> distance;
    }
    if ((a ^ b) >> 31)
        x -= y + (lost != 0);
    else
        x += y;
    if (x == 0 && !lost)
        return 0;
    exponent++;
    while (!(x >> 63)) {
        x <<= 1;
        exponent--;
    }
    return rounded(a & 0x80000000u, exponent, (u32)(x >> 32), (u32)x | (u32)lost);
}

static u32 square_root(u32 a) {
    int exponent = (int)(a >> 23 & 255) - 127;
    u64 x = (u64)(a << 8 | 0x80000000u) << (exponent & 1 ? 31 : 30);
    u64 root = 0;
    for (u64 bit = (u64)1 << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= x)
            root |= bit;
    return rounded(0, (exponent - (exponent & 1)) / 2, (u32)root, root * root != x);
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 16; i++)
        w[i] = (in[i] & 0x8fffffffu) | 0x38000000u;
    for (int i = 0; i < 8; i++) {
        const u32 a = w[2 * i], b = w[2 * i + 1];
        out[6 * i] = multiply(a, b);
        out[6 * i + 1] = as_uint(as_float(a) * as_float(b));
        out[6 * i + 2] = add(a, b);
        out[6 * i + 3] = as_uint(as_float(a) + as_float(b));
        out[6 * i + 4] = divide(a, b);
        out[6 * i + 5] = square_root(a & 0x7fffffff);
    }
}
