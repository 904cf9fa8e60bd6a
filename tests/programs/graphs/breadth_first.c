// Distances by breadth first, with a queue in a ring.
// words: 16 33
// run: private u8 1x16
// run: local u8 1x8
// run: global u32 2x2
#define WORKS 1
typedef struct {
    element distance[32];
    u8 ring[8];
    u32 edges[32];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    u32 dropped = 0;
    for (int i = 0; i < 32; i++) {
        w->distance[i] = 255;
        w->edges[i] = 0;
    }
    for (int i = 0; i < 48; i++) {
        const u32 pair = in[i / 3] >> (i % 3 * 10), a = pair & 31, b = pair >> 5 & 31;
        w->edges[a] |= 1u << b;
        w->edges[b] |= 1u << a;
    }
    u32 first = 0, last = 0;
    const u32 start = in[0] >> 27;
    w->ring[last++ % 8] = (u8)start;
    w->distance[start] = 0;
    while (first != last) {
        const u32 at = w->ring[first++ % 8];
        for (u32 left = w->edges[at], i = 0; left; left >>= 1, i++) {
            if (!(left & 1) || w->distance[i] != 255)
                continue;
            if (last - first == 8) {
                dropped++;
                continue;
            }
            w->distance[i] = (element)(w->distance[at] + 1);
            w->ring[last++ % 8] = (u8)i;
        }
    }
    for (int i = 0; i < 32; i++)
        out[i] = WORD_OF(w->distance[i]);
    out[32] = dropped;
}
