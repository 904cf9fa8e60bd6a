// The shortest round trip over six places, by sets.
// words: 36 4
// run: private u16 1x8
// run: local u16 1x4
#define WORKS 1
typedef struct {
    element best[64][6];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int set = 0; set < 64; set++)
        for (int i = 0; i < 6; i++)
            w->best[set][i] = 60000;
    w->best[1][0] = 0;
    for (int set = 1; set < 64; set += 2) {
        for (int last = 0; last < 6; last++) {
            if (!(set >> last & 1) || w->best[set][last] == 60000)
                continue;
            for (int to = 1; to < 6; to++) {
                if (set >> to & 1)
                    continue;
                const u32 cost = w->best[set][last] + in[last * 6 + to] % 1000;
                MEM element *known = &w->best[set | 1 << to][to];
                if (cost < *known)
                    *known = (element)cost;
            }
        }
    }
    u32 shortest = 0xffffffffu;
    int end = 0;
    for (int i = 1; i < 6; i++) {
        const u32 cost = w->best[63][i] + in[i * 6] % 1000;
        if (cost < shortest) {
            shortest = cost;
            end = i;
        }
    }
    out[0] = shortest;
    out[1] = (u32)end;
    out[2] = w->best[31][4];
    out[3] = w->best[63][5];
}
