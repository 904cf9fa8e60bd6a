// SHA-256 of one block; its constants are computed from the primes' cube roots by integers.
// words: 12 8
// run: private u32 1x8
// run: global u32 2x4
#define WORKS 1
typedef struct {
    u32 w[64], k[64], h[8];
} work_t;

/* The first 32 bits behind the point of the cube root of p, or of its square root. */
static u32 root_fraction(u32 p, int cube) {
    u64 root = 0;
    for (int bit = 35; bit >= 0; bit--) {
        const u64 tried = root | (u64)1 << bit;
        const u64 high = tried >> 16, low = tried & 0xffff;
        /* tried * tried >> 32, exact enough only together with what is compared below */
        const u64 square = high * high + (high * low >> 15) + (low * low >> 32);
        if (!cube) {
            if (square < ((u64)p << 32))
                root = tried;
            continue;
        }
        const u64 whole = square >> 32, part = square & 0xffffffffu;
        const u64 cubed = whole * (tried >> 32) + ((whole * (tried & 0xffffffffu) + part * (tried >> 32)) >> 32);
        if (cubed < p)
            root = tried;
    }
    return (u32)root;
}

static void program(IN in, OUT out, MEM work_t *w) {
    u32 p = 2;
    for (int found = 0; found < 64; p++) {
        int prime = 1;
        for (u32 d = 2; d * d <= p; d++)
            if (p % d == 0) {
                prime = 0;
                break;
            }
        if (!prime)
            continue;
        if (found < 8)
            w->h[found] = root_fraction(p, 0);
        w->k[found++] = root_fraction(p, 1);
    }
    for (int i = 0; i < 12; i++)
        w->w[i] = in[i];
    w->w[12] = 0x80000000u;
    w->w[13] = w->w[14] = 0;
    w->w[15] = 12 * 32;
    for (int i = 16; i < 64; i++) {
        const u32 a = w->w[i - 15], b = w->w[i - 2];
        w->w[i] = w->w[i - 16] + (ROTR32(a, 7) ^ ROTR32(a, 18) ^ a >> 3) + w->w[i - 7] +
                  (ROTR32(b, 17) ^ ROTR32(b, 19) ^ b >> 10);
    }
    u32 s[8];
    for (int i = 0; i < 8; i++)
        s[i] = w->h[i];
    for (int i = 0; i < 64; i++) {
        const u32 e = s[4], a = s[0];
        const u32 t1 = s[7] + (ROTR32(e, 6) ^ ROTR32(e, 11) ^ ROTR32(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + w->k[i] +
                       w->w[i];
        const u32 t2 = (ROTR32(a, 2) ^ ROTR32(a, 13) ^ ROTR32(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        out[i] = w->h[i] + s[i];
}
