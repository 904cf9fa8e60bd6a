// Products of numbers of many words: by columns, and by Karatsuba's three products.
// words: 8 17
// run: private u32 1x16
// run: local u16 1x8
// run: global u32 2x4
#define WORKS 64
typedef u32 work_t;

static void multiply(MEM const u32 *a, MEM const u32 *b, MEM u32 *c, int n) {
    u64 low = 0, high = 0;
    for (int k = 0; k < 2 * n - 1; k++) {
        for (int i = MAX(0, k - n + 1); i <= MIN(k, n - 1); i++) {
            const u64 p = (u64)a[i] * b[k - i];
            low += p & 0xffffffffu;
            high += p >> 32;
        }
        c[k] = (u32)low;
        low = (low >> 32) + (high & 0xffffffffu);
        high >>= 32;
    }
    c[2 * n - 1] = (u32)low;
}

static u32 add(MEM u32 *a, MEM const u32 *b, int n) {
    u32 carry = 0;
    for (int i = 0; i < n; i++) {
        const u64 sum = (u64)a[i] + b[i] + carry;
        a[i] = (u32)sum;
        carry = (u32)(sum >> 32);
    }
    return carry;
}

static u32 subtract(MEM u32 *a, MEM const u32 *b, int n) {
    u32 borrow = 0;
    for (int i = 0; i < n; i++) {
        const u64 difference = (u64)a[i] - b[i] - borrow;
        a[i] = (u32)difference;
        borrow = (u32)(difference >> 63);
    }
    return borrow;
}

static void program(IN in, OUT out, MEM work_t *w) {
    MEM u32 *a = w, *b = w + 4, *c = w + 8, *sums = w + 16, *middle = w + 24, *k = w + 32;
    for (int i = 0; i < 4; i++) {
        a[i] = in[i];
        b[i] = in[4 + i];
    }
    a[3] &= 0x7fffffffu, a[1] &= 0x7fffffffu;
    b[3] &= 0x7fffffffu, b[1] &= 0x7fffffffu;
    multiply(a, b, c, 4);
    for (int i = 0; i < 8; i++)
        out[i] = c[i];
    multiply(a, b, k, 2);
    multiply(a + 2, b + 2, k + 4, 2);
    for (int i = 0; i < 2; i++) {
        sums[i] = a[i];
        sums[2 + i] = b[i];
    }
    u32 carries = add(sums, a + 2, 2) << 1;
    carries |= add(sums + 2, b + 2, 2);
    multiply(sums, sums + 2, middle, 2);
    middle[4] = 0;
    for (int i = 0; i < 4; i++)
        sums[4 + i] = k[i];
    middle[4] -= subtract(middle, sums + 4, 4);
    middle[4] -= subtract(middle, k + 4, 4);
    const u32 over = add(k + 2, middle, 4) + middle[4];
    u32 carry = over;
    for (int i = 6; i < 8 && carry; i++) {
        k[i] += carry;
        carry = k[i] < carry;
    }
    for (int i = 0; i < 8; i++)
        out[8 + i] = k[i];
    out[16] = carries << 4 | carry;
}
