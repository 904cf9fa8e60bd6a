// The Mersenne twister with its 624 words, and the tempered output.
// words: 1 16
// run: private u32 1x2
// run: global u32 1x8
#define WORKS 624
typedef u32 work_t;

static void program(IN in, OUT out, MEM work_t *state) {
    u32 index = 624;
    state[0] = in[0];
    for (u32 i = 1; i < 624; i++)
        state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    for (int n = 0; n < 16; n++) {
        if (index >= 624) {
            for (u32 i = 0; i < 624; i++) {
                const u32 y = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
                state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
            }
            index = 0;
        }
        u32 y = state[index++];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        out[n] = y ^ y >> 18;
    }
}
