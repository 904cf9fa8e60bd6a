// Shortest paths with negative edges, until nothing changes.
// words: 30 16
// run: private i32 1x16
// run: global f32 2x4
#define WORKS 1
typedef struct {
    struct edge { u8 from, to; element weight; } edges[30];
    element distance[12];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 30; i++) {
        MEM struct edge *e = &w->edges[i];
        e->from = (u8)(in[i] % 12);
        e->to = (u8)((in[i] >> 8) % 12);
        e->weight = (element)((i32)(in[i] >> 16) % 40 - 4);
    }
    for (int i = 0; i < 12; i++)
        w->distance[i] = 100000;
    w->distance[in[0] % 12] = 0;
    int pass = 0, changed;
    do {
        changed = 0;
        for (int i = 0; i < 30; i++) {
            const struct edge e = w->edges[i];
            if (w->distance[e.from] == 100000)
                continue;
            const element through = w->distance[e.from] + e.weight;
            if (through < w->distance[e.to]) {
                w->distance[e.to] = through;
                changed++;
            }
        }
        pass++;
    } while (changed && pass < 12);
    for (int i = 0; i < 12; i++)
        out[i] = WORD_OF(w->distance[i]);
    out[12] = (u32)pass;
    out[13] = (u32)changed;
    out[14] = out[15] = 0;
}
