// Forty choices one after the other in a loop, each with something to do both ways.
// words: 8 40
// run: private u32 1x8
// run: local u8 1x8
// run: global u16 1x4
#define WORKS 41
typedef element work_t;

#define CHOICE(k) \
    if ((x >> ((k) & 15)) & 1) \
        w[k] = (element)(w[k] + x); \
    else \
        w[(k) + 1] = (element)(w[k] ^ x);
#define CHOICES(k) CHOICE(k) CHOICE((k) + 1) CHOICE((k) + 2) CHOICE((k) + 3) CHOICE((k) + 4)

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 41; i++)
        w[i] = (element)i;
    for (int i = 0; i < 8; i++) {
        const u32 x = in[i];
        CHOICES(0) CHOICES(5) CHOICES(10) CHOICES(15) CHOICES(20) CHOICES(25) CHOICES(30) CHOICES(35)
    }
    for (int i = 0; i < 40; i++)
        out[i] = WORD_OF(w[i]);
}
