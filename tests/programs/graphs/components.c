// Strongly connected components by closure, and two colours where a graph has them.
// words: 10 32
// run: private u16 1x16
// run: local u16 1x8
#define WORKS 32
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *reach) {
    for (int i = 0; i < 32; i++)
        reach[i] = i < 16 ? (element)(1u << i) : 0;
    for (int i = 0; i < 20; i++) {
        const u32 pair = in[i / 2] >> (i % 2 * 13);
        reach[pair & 15] |= (element)(1u << (pair >> 4 & 15));
        reach[16 + (pair & 15)] |= (element)(1u << (pair >> 4 & 15));
        reach[16 + (pair >> 4 & 15)] |= (element)(1u << (pair & 15));
    }
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < 16; i++)
            if (reach[i] >> k & 1)
                reach[i] |= reach[k];
    for (int i = 0; i < 16; i++) {
        int least = i;
        for (int k = i - 1; k >= 0; k--)
            if (reach[i] >> k & 1 && reach[k] >> i & 1)
                least = k;
        out[i] = (u32)least;
    }
    u32 colour[2] = {0, 0}, bad = 0;
    for (int root = 0; root < 16; root++) {
        if ((colour[0] | colour[1]) >> root & 1)
            continue;
        u32 frontier = 1u << root;
        for (int c = 0; frontier; c ^= 1) {
            u32 next = 0;
            colour[c] |= frontier;
            for (int i = 0; i < 16; i++)
                if (frontier >> i & 1)
                    next |= reach[16 + i];
            bad |= next & colour[c];
            frontier = next & ~(colour[0] | colour[1]);
        }
    }
    for (int i = 0; i < 14; i++)
        out[16 + i] = colour[0] >> i & 1;
    out[30] = colour[1];
    out[31] = bad;
}
