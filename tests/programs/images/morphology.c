// Dilation and erosion of bit images in rows of words, holes filled from the border.
// words: 16 32
// run: private u32 1x16
// run: local u16 1x8
// run: global u32 1x4
#define WORKS 48
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *image = w, *grown = w + 16, *outside = w + 32;
    for (int y = 0; y < 16; y++)
        image[y] = (element)(in[y] & in[y] >> 9 & 0xffff);
    for (int y = 0; y < 16; y++) {
        u32 row = (u32)image[y];
        row |= row << 1 | row >> 1;
        if (y > 0)
            row |= (u32)image[y - 1];
        if (y < 15)
            row |= (u32)image[y + 1];
        grown[y] = (element)(row & 0xffff);
    }
    for (int y = 0; y < 16; y++) {
        const u32 free = ~(u32)grown[y] & 0xffff;
        outside[y] = (element)(y == 0 || y == 15 ? free : free & 0x8001);
    }
    int changed, sweeps = 0;
    do {
        changed = 0;
        for (int y = 0; y < 16; y++) {
            const u32 before = (u32)outside[y];
            u32 row = before | before << 1 | before >> 1;
            if (y > 0)
                row |= (u32)outside[y - 1];
            if (y < 15)
                row |= (u32)outside[y + 1];
            row &= ~(u32)grown[y] & 0xffff;
            if (row != before) {
                outside[y] = (element)row;
                changed = 1;
            }
        }
        sweeps++;
    } while (changed);
    for (int y = 0; y < 16; y++) {
        u32 row = (u32)image[y];
        row &= row << 1 & row >> 1;
        row &= y > 0 ? (u32)image[y - 1] : 0;
        row &= y < 15 ? (u32)image[y + 1] : 0;
        out[y] = (u32)grown[y] | row << 16;
        out[16 + y] = (~(u32)outside[y] & 0xffff) | (u32)(y == 0 ? sweeps : 0) << 16;
    }
}
