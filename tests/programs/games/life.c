// The game of life on a ring of bits by a work-group, and on bytes by one.
// words: 16 32
// grouped: yes
// run: local u16 2x16
// run: global u32 1x8
#define WORKS 32
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *rows) {
    EACH(i)
        for (u32 y = i; y < 16; y += GROUP)
            rows[y] = (element)(in[y] & in[y] >> 16 & 0xffff);
    MEET();
    for (u32 step = 0; step < 12; step++) {
        const u32 from = step & 1 ? 16 : 0, to = 16 - from;
        EACH(i)
            for (u32 y = i; y < 16; y += GROUP) {
                u32 ones = 0, twos = 0, fours = 0;
                const u32 self = (u32)rows[from + y];
                for (u32 k = 0; k < 9; k++) {
                    if (k == 4)
                        continue;
                    u32 row = (u32)rows[from + ((y + k / 3 + 15) & 15)];
                    if (k % 3 == 0)
                        row = row << 1 | row >> 15;
                    else if (k % 3 == 2)
                        row = row >> 1 | row << 15;
                    row &= 0xffff;
                    const u32 carry = ones & row, carry2 = twos & carry;
                    ones ^= row;
                    twos ^= carry;
                    fours |= carry2;
                }
                rows[to + y] = (element)(twos & ~fours & (ones | self) & 0xffff);
            }
        MEET();
    }
    EACH(i)
        for (u32 y = i; y < 16; y += GROUP) {
            out[y] = WORD_OF(rows[y]);
            out[16 + y] = WORD_OF(rows[16 + y]);
        }
}
