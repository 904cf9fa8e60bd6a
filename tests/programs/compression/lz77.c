// Compression by references back, and its inverse, whose copies overlap what they write.
// words: 16 34
// run: private u8 1x8
// run: local u8 1x8
// run: global u32 2x2
#define WORKS 1
typedef struct {
    element text[128], packed[200], unpacked[128];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 128; i++)
        w->text[i] = (element)(i % 7 < 3 ? 'x' : 'a' + (in[i / 8] >> (i % 8 * 4) & 1));
    int length = 0, at = 0;
    while (at < 128) {
        int best = 0, distance = 0;
        for (int from = MAX(0, at - 31); from < at; from++) {
            int n = 0;
            while (at + n < 128 && n < 18 && w->text[from + n] == w->text[at + n])
                n++;
            if (n >= best) {
                best = n;
                distance = at - from;
            }
        }
        if (best < 3) {
            w->packed[length++] = 0;
            w->packed[length++] = w->text[at++];
            continue;
        }
        w->packed[length++] = (element)best;
        w->packed[length++] = (element)distance;
        at += best;
    }
    int end = 0;
    for (int i = 0; i < length;) {
        int n = w->packed[i++];
        if (n == 0) {
            w->unpacked[end++] = w->packed[i++];
            continue;
        }
        const int back = w->packed[i++];
        for (; n > 0; n--, end++)
            w->unpacked[end] = w->unpacked[end - back];
    }
    for (int i = 0; i < 32; i++) {
        u32 word = 0;
        for (int k = 0; k < 4; k++)
            word = word << 8 | (u32)w->unpacked[4 * i + k];
        out[i] = word;
    }
    out[32] = (u32)length;
    out[33] = (u32)end;
}
