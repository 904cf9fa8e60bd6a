// A cipher of 16 rounds of permutations by bits, expansion and small S-boxes, as DES has them.
// words: 4 4
// run: private u32 1x8
// run: local u8 1x8
#define WORKS 64
typedef u8 work_t;

static u64 permute(u64 x, MEM const u8 *order, int count) {
    u64 y = 0;
    for (int i = 0; i < count; i++)
        y = y << 1 | (x >> order[i] & 1);
    return y;
}

static u32 boxes(u64 x) {
    u32 y = 0;
    for (int i = 7; i >= 0; i--) {
        const u32 six = (u32)(x >> (6 * i)) & 63;
        const u32 row = (six >> 4 & 2) | (six & 1), column = six >> 1 & 15;
        y = y << 4 | ((row * 7 + column * (2 * row + 5) + (column >> 2 ^ (u32)i)) & 15);
    }
    return y;
}

static void program(IN in, OUT out, MEM work_t *order) {
    u64 block = (u64)in[0] << 32 | in[1], key = (u64)in[2] << 32 | in[3];
    for (int i = 0; i < 64; i++)
        order[i] = (u8)((i * 29 + 11) & 63);
    for (int way = 0; way < 2; way++) {
        block = permute(block, order, 64);
        u32 left = (u32)(block >> 32), right = (u32)block;
        for (int r = 0; r < 16; r++) {
            const int turn = 1 + 4 * (way ? 15 - r : r) % 31;
            const u64 round_key = (key << turn | key >> (64 - turn)) & 0xffffffffffffUL;
            u64 wide = 0;
            for (int i = 7; i >= 0; i--) {
                const int low = 4 * i - 1;
                const u32 six = low < 0 ? right << 1 | right >> 31 : low + 6 > 32 ? right >> low | right << (32 - low) : right >> low;
                wide = wide << 6 | (six & 63);
            }
            const u32 f = (u32)permute(boxes(wide ^ round_key), order, 32) ^ boxes(wide ^ round_key);
            const u32 t = right;
            right = left ^ f;
            left = t;
        }
        block = (u64)right << 32 | left;
        out[2 * way] = (u32)(block >> 32);
        out[2 * way + 1] = (u32)block;
    }
}
