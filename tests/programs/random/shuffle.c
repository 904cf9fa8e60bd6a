// Shuffles, reservoir samples, numbers without bias, and weights by cumulative sums.
// words: 20 42
// run: private u8 1x16
// run: local u32 1x8
// run: global i64 1x4
#define WORKS 32
typedef element work_t;

static u32 next(u32 *state) {
    *state = *state * 747796405u + 2891336453u;
    const u32 word = ((*state >> ((*state >> 28) + 4)) ^ *state) * 277803737u;
    return word >> 22 ^ word;
}

static u32 below(u32 *state, u32 bound) {
    const u32 least = (0 - bound) % bound;
    for (;;) {
        const u32 x = next(state);
        if (x >= least)
            return x % bound;
    }
}

static void program(IN in, OUT out, MEM work_t *deck) {
    u32 state = in[0];
    for (int i = 0; i < 24; i++)
        deck[i] = (element)i;
    for (int i = 23; i > 0; i--) {
        const u32 j = below(&state, (u32)i + 1);
        const element t = deck[i];
        deck[i] = deck[j];
        deck[j] = t;
    }
    for (int i = 0; i < 24; i++)
        out[i] = WORD_OF(deck[i]);
    for (u32 i = 0; i < 100; i++) {
        if (i < 8) {
            deck[24 + i] = (element)i;
            continue;
        }
        const u32 j = below(&state, i + 1);
        if (j < 8)
            deck[24 + j] = (element)i;
    }
    for (int i = 0; i < 8; i++)
        out[24 + i] = WORD_OF(deck[24 + i]);
    u32 counts[10], total = 0;
    for (int i = 0; i < 10; i++) {
        counts[i] = 0;
        total += in[i] % 9 + 1;
    }
    for (int n = 0; n < 60; n++) {
        u32 x = below(&state, total);
        int i = 0;
        while (x >= in[i] % 9 + 1)
            x -= in[i++] % 9 + 1;
        counts[i]++;
    }
    for (int i = 0; i < 10; i++)
        out[32 + i] = counts[i];
}
