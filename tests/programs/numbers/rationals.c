// Continued fractions, sums of fractions in lowest terms, and Farey neighbours; structures by value.
// words: 12 20
// run: private i32 1x16
// run: global i64 1x4
#define WORKS 8
typedef struct {
    i64 over, under;
} fraction;
typedef fraction work_t;

static fraction reduced(fraction f) {
    i64 a = f.over < 0 ? -f.over : f.over, b = f.under;
    while (b) {
        const i64 t = a % b;
        a = b;
        b = t;
    }
    fraction r = {f.over / a, f.under / a};
    return r;
}

static fraction add(fraction a, fraction b) {
    fraction sum;
    sum.over = a.over * b.under + b.over * a.under;
    sum.under = a.under * b.under;
    return reduced(sum);
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 6; i++) {
        w[i].over = (i64)(in[2 * i] % 200) - 100;
        w[i].under = in[2 * i + 1] % 30 + 1;
        if (w[i].over == 0)
            w[i].over = 1;
        w[i] = reduced(w[i]);
    }
    fraction sum = w[0];
    for (int i = 1; i < 6; i++)
        sum = add(sum, w[i]);
    out[0] = (u32)sum.over;
    out[1] = (u32)((u64)sum.over >> 32);
    out[2] = (u32)sum.under;
    i64 a = in[0] % 10000 + 1, b = in[1] % 10000 + 1;
    int terms = 0;
    i64 p = 1, p0 = 0, q = 0, q0 = 1;
    while (b && terms < 16) {
        const i64 term = a / b, t = a % b;
        i64 next = term * p + p0;
        p0 = p;
        p = next;
        next = term * q + q0;
        q0 = q;
        q = next;
        a = b;
        b = t;
        out[4 + terms++] = (u32)term ^ (u32)p << 16;
    }
    for (int i = terms; i < 16; i++)
        out[4 + i] = 0;
    out[3] = (u32)q;
}
