// A walk along links until the one that ends, and what comes after it, in groups smaller than a sub-group.
// words: 4 6
// run: global u32 3x1
// run: local u16 2x3
// run: private u32 1x5
// run: global u64 2x2
#define WORKS 8
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *next) {
    for (u32 i = 0; i < 8; i++)
        next[i] = (element)(i == 5 ? 99 : (i + 3) & 7);
    u32 steps = 0;
    element at = (element)(in[0] & 7);
    while (at != 99) {
        at = next[at];
        steps++;
    }
    for (u32 i = 0; i < 4; i++)
        out[i] = in[i] ^ steps;
    for (at = (element)(in[1] & 7); at != 99; at = next[at])
        steps++;
    out[4] = steps;
    out[5] = (u32)at;
}
