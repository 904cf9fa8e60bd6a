// String search by Boyer, Moore and Horspool, from the end of the pattern.
// words: 96 20
// run: private u8 1x8
// run: local u16 2x8
#define WORKS 1
typedef struct {
    element text[96], pattern[3];
    u8 skip[8];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 96; i++)
        w->text[i] = (element)(in[i] & 3);
    for (int i = 0; i < 3; i++)
        w->pattern[i] = (element)((in[i] >> 16) & 3);
    for (int i = 0; i < 8; i++)
        w->skip[i] = 3;
    for (int i = 0; i < 2; i++)
        w->skip[w->pattern[i]] = (u8)(2 - i);
    int found = 0, compared = 0, at = 0;
    while (at <= 93) {
        int j = 2;
        while (compared++, w->text[at + j] == w->pattern[j]) {
            if (j-- == 0) {
                if (found < 18)
                    out[found] = (u32)at;
                found++;
                break;
            }
        }
        at += w->skip[w->text[at + 2]];
    }
    for (int i = found; i < 18; i++)
        out[i] = 0;
    out[18] = (u32)found;
    out[19] = (u32)compared;
}
