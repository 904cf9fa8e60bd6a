// A queue by priorities, filled and emptied by turns, that lets elements of a priority out in order.
// words: 40 32
// run: private u32 1x8
// run: local u16 1x8
// run: global u8 1x4
#define WORKS 16
typedef struct {
    element priority;
    u16 order;
} work_t;

static int before(work_t a, work_t b) {
    return a.priority < b.priority || (a.priority == b.priority && a.order < b.order);
}

static void program(IN in, OUT out, MEM work_t *heap) {
    int count = 0, given = 0;
    u16 order = 0;
    for (int step = 0; step < 40; step++) {
        if (in[step] & 0x100 && count > 0) {
            if (given < 32)
                out[given++] = WORD_OF(heap[0].priority) << 16 | heap[0].order;
            const work_t last = heap[--count];
            int at = 0;
            while (2 * at + 1 < count) {
                int child = 2 * at + 1;
                if (child + 1 < count && before(heap[child + 1], heap[child]))
                    child++;
                if (!before(heap[child], last))
                    break;
                heap[at] = heap[child];
                at = child;
            }
            heap[at] = last;
        } else if (count < 16) {
            work_t x;
            x.priority = (element)(in[step] & 7);
            x.order = order++;
            int at = count++;
            for (; at > 0 && before(x, heap[(at - 1) / 2]); at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
            heap[at] = x;
        }
    }
    while (given < 32)
        out[given++] = (u32)count;
}
