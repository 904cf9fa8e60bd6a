// A rule of one dimension over rings of bits, Langton's ant, and a register with feedback.
// words: 2 26
// run: private u64 1x16
// run: global u32 1x4
#define WORKS 17
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *grid) {
    u64 row = (u64)in[0] << 32 | in[1];
    const u32 rule = in[0] >> 5 & 255;
    for (int step = 0; step < 8; step++) {
        u64 next = 0;
        for (int i = 0; i < 64; i++) {
            const u64 three = (row >> i | row << (63 - i) << 1) & 7;
            next |= (u64)(rule >> three & 1) << ((i + 1) & 63);
        }
        row = next;
        out[step] = (u32)(row ^ row >> 32);
    }
    for (int i = 0; i < 17; i++)
        grid[i] = (element)(in[i & 1] >> (i / 2) & 0x1111);
    int x = 8, y = 8, way = 0;
    for (int step = 0; step < 300; step++) {
        const element bit = (element)1 << x;
        way = (way + (grid[y] & bit ? 3 : 1)) & 3;
        grid[y] ^= bit;
        x = (x + (way == 1) - (way == 3) + 17) % 17;
        y = (y + (way == 2) - (way == 0) + 17) % 17;
    }
    for (int i = 0; i < 17; i++)
        out[8 + i] = WORD_OF(grid[i]);
    u16 lfsr = (u16)(in[0] | 1);
    u32 period = 0;
    do {
        lfsr = (u16)(lfsr >> 1 ^ (0xb400 & (0u - (lfsr & 1u))));
        period++;
    } while ((lfsr & 0xff) != (in[1] & 0xff) && period < 2000);
    out[25] = period << 16 | lfsr;
}
