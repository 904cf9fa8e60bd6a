// Radix sort of signed words by bytes, from the lowest on.
// words: 40 40
// run: private u32 1x4
// run: global u32 2x4
#define WORKS 1
typedef struct {
    u32 a[40], b[40];
    u8 start[256];
} work_t;

static void pass(MEM const u32 *from, MEM u32 *to, MEM u8 *start, int shift, u32 flip) {
    for (int i = 0; i < 256; i++)
        start[i] = 0;
    for (int i = 0; i < 40; i++)
        start[((from[i] ^ flip) >> shift) & 255]++;
    u8 sum = 0;
    for (int i = 0; i < 256; i++) {
        u8 count = start[i];
        start[i] = sum;
        sum += count;
    }
    for (int i = 0; i < 40; i++)
        to[start[((from[i] ^ flip) >> shift) & 255]++] = from[i];
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 40; i++)
        w->a[i] = i % 3 == 0 ? in[i] % 100 : in[i];
    for (int shift = 0; shift < 32; shift += 16) {
        pass(w->a, w->b, w->start, shift, 0);
        pass(w->b, w->a, w->start, shift + 8, shift == 16 ? 0x80000000u : 0);
    }
    for (int i = 0; i < 40; i++)
        out[i] = w->a[i];
}
