// Sudokus of 4 by 4 solved by going back, with masks of what is used.
// words: 1 18
// run: private u8 1x8
// run: local u16 1x8
// run: global u8 1x2
#define WORKS 1
typedef struct {
    element cell[16], given[16], row[4], column[4], square[4];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    u32 steps = 0;
    for (int i = 0; i < 4; i++)
        w->row[i] = w->column[i] = w->square[i] = 0;
    for (int i = 0; i < 16; i++) {
        const int y = i / 4, x = i % 4;
        const int digit = 1 + (((y * 2 + y / 2 + x) & 3) ^ (int)(in[0] & 3));
        w->given[i] = (in[0] >> (2 + i) & 1) && (in[0] >> (7 + i) & 1);
        w->cell[i] = w->given[i] ? (element)digit : 0;
        if (!w->given[i])
            continue;
        w->row[y] |= (element)(1 << digit);
        w->column[x] |= (element)(1 << digit);
        w->square[y / 2 * 2 + x / 2] |= (element)(1 << digit);
    }
    int at = 0, back = 0;
    while (at >= 0 && at < 16 && steps < 2000) {
        steps++;
        if (w->given[at]) {
            at += back ? -1 : 1;
            continue;
        }
        const int y = at / 4, x = at % 4, s = y / 2 * 2 + x / 2;
        int digit = (int)w->cell[at];
        if (digit) {
            const element gone = (element)~(1 << digit);
            w->row[y] &= gone;
            w->column[x] &= gone;
            w->square[s] &= gone;
        }
        for (digit++; digit <= 4; digit++)
            if (!((w->row[y] | w->column[x] | w->square[s]) >> digit & 1))
                break;
        if (digit > 4) {
            w->cell[at--] = 0;
            back = 1;
            continue;
        }
        w->cell[at++] = (element)digit;
        w->row[y] |= (element)(1 << digit);
        w->column[x] |= (element)(1 << digit);
        w->square[s] |= (element)(1 << digit);
        back = 0;
    }
    for (int i = 0; i < 16; i++)
        out[i] = WORD_OF(w->cell[i]);
    out[16] = steps;
    out[17] = (u32)at;
}
