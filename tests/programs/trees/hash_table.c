// A hash table with open addressing and graves, and one with chains.
// words: 48 50
// run: private u16 1x8
// run: local u32 1x8
// run: global u8 1x4
#define WORKS 1
typedef struct {
    element slot[32];
    u8 state[32];
    i8 bucket[8], next[24];
    element chained[24];
} work_t;

enum { EMPTY, FULL, GRAVE };

static void program(IN in, OUT out, MEM work_t *w) {
    int chained = 0;
    for (int i = 0; i < 32; i++)
        w->state[i] = EMPTY;
    for (int i = 0; i < 8; i++)
        w->bucket[i] = -1;
    for (int i = 0; i < 48; i++) {
        const element key = (element)(in[i] % 37);
        const u32 hash = (u32)key * 0x9e3779b1u >> 27;
        u32 at = hash, probes = 0;
        int grave = -1;
        while (w->state[at] != EMPTY && !(w->state[at] == FULL && w->slot[at] == key) && probes < 32) {
            if (w->state[at] == GRAVE && grave < 0)
                grave = (int)at;
            at = (at + 1) & 31;
            probes++;
        }
        const int found = w->state[at] == FULL && w->slot[at] == key;
        switch (in[i] >> 20 & 3) {
        case 0:
            if (found)
                w->state[at] = GRAVE;
            break;
        case 1:
        case 2:
            if (!found && (grave >= 0 || w->state[at] == EMPTY)) {
                if (grave >= 0)
                    at = (u32)grave;
                w->slot[at] = key;
                w->state[at] = FULL;
            }
            /* falls through */
        default: {
            i8 p = w->bucket[hash & 7];
            while (p >= 0 && w->chained[p] != key)
                p = w->next[p];
            if (p < 0 && chained < 24) {
                w->chained[chained] = key;
                w->next[chained] = w->bucket[hash & 7];
                w->bucket[hash & 7] = (i8)chained++;
            }
        }
        }
        out[i] = probes << 16 | at << 8 | (u32)found;
    }
    u32 walk = 0, full = 0;
    for (int b = 0; b < 8; b++)
        for (int p = w->bucket[b]; p >= 0; p = w->next[p])
            walk = walk * 41 + (u32)w->chained[p];
    for (int i = 0; i < 32; i++)
        full = full << 1 | (w->state[i] == FULL);
    out[48] = walk;
    out[49] = full;
}
