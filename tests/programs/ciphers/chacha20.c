// A block of ChaCha20.
// words: 12 16
// run: private u32 1x16
// run: local u32 2x8
#define WORKS 16
typedef u32 work_t;

#define QUARTER(a, b, c, d) \
    x[a] += x[b]; x[d] = ROTL32(x[d] ^ x[a], 16); \
    x[c] += x[d]; x[b] = ROTL32(x[b] ^ x[c], 12); \
    x[a] += x[b]; x[d] = ROTL32(x[d] ^ x[a], 8); \
    x[c] += x[d]; x[b] = ROTL32(x[b] ^ x[c], 7)

TABLE(char) sigma[] = "expand 32-byte k";

static void program(IN in, OUT out, MEM work_t *x) {
    for (int i = 0; i < 16; i++)
        x[i] = i >= 4 ? in[i - 4]
                      : (u32)sigma[4 * i] | (u32)sigma[4 * i + 1] << 8 | (u32)sigma[4 * i + 2] << 16 |
                            (u32)sigma[4 * i + 3] << 24;
    for (int i = 0; i < 16; i++)
        out[i] = x[i];
    for (int i = 0; i < 10; i++) {
        QUARTER(0, 4, 8, 12);
        QUARTER(1, 5, 9, 13);
        QUARTER(2, 6, 10, 14);
        QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15);
        QUARTER(1, 6, 11, 12);
        QUARTER(2, 7, 8, 13);
        QUARTER(3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++)
        out[i] += x[i];
}
