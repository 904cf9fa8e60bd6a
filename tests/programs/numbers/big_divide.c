// Division of numbers of many half words (Knuth's algorithm D), and the product of quotient and divisor back.
// words: 4 9
// run: private u16 1x16
// run: local u16 2x8
// run: global u32 1x5
#define WORKS 1
typedef struct {
    element u[9], v[4], q[6], back[9];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++)
        w->u[i] = (element)(in[i / 2] >> (i % 2 * 16) & 0xffff);
    w->u[8] = 0;
    for (int i = 0; i < 4; i++)
        w->v[i] = (element)(in[3 - i] >> (i * 3) & 0xffff);
    w->v[3] |= 1;
    int shift = 0;
    while (!(w->v[3] << shift & 0x8000))
        shift++;
    for (int i = 8; i >= 0; i--)
        w->u[i] = (element)((w->u[i] << shift | (i > 0 && shift ? w->u[i - 1] >> (16 - shift) : 0)) & 0xffff);
    for (int i = 3; i >= 0; i--)
        w->v[i] = (element)((w->v[i] << shift | (i > 0 && shift ? w->v[i - 1] >> (16 - shift) : 0)) & 0xffff);
    for (int j = 4; j >= 0; j--) {
        const u32 top = (u32)w->u[j + 4] << 16 | w->u[j + 3];
        u32 q = top / w->v[3], r = top % w->v[3];
        while (q >= 65536 || (u64)q * w->v[2] > ((u64)r << 16 | w->u[j + 2])) {
            q--;
            r += w->v[3];
            if (r >= 65536)
                break;
        }
        i64 borrow = 0;
        for (int i = 0; i < 4; i++) {
            const i64 t = (i64)w->u[i + j] - borrow - (i64)((u64)q * w->v[i]);
            w->u[i + j] = (element)(t & 0xffff);
            borrow = -(t >> 16);
        }
        const i64 t = (i64)w->u[j + 4] - borrow;
        w->u[j + 4] = (element)(t & 0xffff);
        if (t < 0) {
            u32 carry = 0;
            q--;
            for (int i = 0; i < 4; i++) {
                carry += (u32)w->u[i + j] + w->v[i];
                w->u[i + j] = (element)(carry & 0xffff);
                carry >>= 16;
            }
            w->u[j + 4] = (element)((w->u[j + 4] + carry) & 0xffff);
        }
        w->q[j] = (element)q;
    }
    u32 carry = 0;
    for (int i = 0; i < 9; i++)
        w->back[i] = i < 4 ? w->u[i] : 0;
    for (int i = 0; i < 5; i++) {
        carry = 0;
        for (int k = 0; k < 4; k++) {
            carry += (u32)w->q[i] * w->v[k];
            const u32 sum = (carry & 0xffff) + w->back[i + k];
            w->back[i + k] = (element)(sum & 0xffff);
            carry = (carry >> 16) + (sum >> 16);
        }
        for (int k = i + 4; k < 9 && carry; k++) {
            const u32 sum = w->back[k] + carry;
            w->back[k] = (element)(sum & 0xffff);
            carry = sum >> 16;
        }
    }
    for (int i = 0; i < 5; i++)
        out[i] = w->q[i];
    for (int i = 0; i < 4; i++)
        out[5 + i] = (u32)w->back[2 * i + 1] << 16 | w->back[2 * i];
}
