// The game of life on bytes with a border, by one work-item.
// words: 8 9
// run: private u8 1x16
// run: local u8 1x8
// run: global i32 1x4
#define WORKS 200
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 200; i++)
        w[i] = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            w[(y + 1) * 10 + x + 1] = (element)(in[y] >> x & 1);
    MEM element *from = w, *to = w + 100;
    for (int step = 0; step < 9; step++) {
        for (int y = 1; y <= 8; y++)
            for (int x = 1; x <= 8; x++) {
                const int at = y * 10 + x;
                int near = 0;
                for (int dy = -10; dy <= 10; dy += 10)
                    for (int dx = -1; dx <= 1; dx++) {
                        if (dx == 0 && dy == 0)
                            continue;
                        near += (int)from[at + dy + dx];
                    }
                to[at] = near == 3 || (near == 2 && from[at]);
            }
        MEM element *t = from;
        from = to;
        to = t;
    }
    u32 alive = 0;
    for (int y = 0; y < 8; y++) {
        u32 row = 0;
        for (int x = 8; x >= 1; x--) {
            row = row << 1 | (u32)from[(y + 1) * 10 + x];
            alive += (u32)from[(y + 1) * 10 + x];
        }
        out[y] = row;
    }
    out[8] = alive;
}
