// Transposes in place: of a square by exchanges, of a rectangle by cycles; a spiral and a rotation.
// words: 28 80
// run: private u8 1x16
// run: local u16 1x8
// run: global i64 1x4
#define WORKS 1
typedef struct {
    element square[5][5], rectangle[28];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 25; i++)
        w->square[i / 5][i % 5] = (element)in[i];
    for (int i = 0; i < 28; i++)
        w->rectangle[i] = (element)in[i];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++) {
            const element t = w->square[i][j];
            w->square[i][j] = w->square[j][i];
            w->square[j][i] = t;
        }
    u32 moved = 0;
    for (int start = 1; start < 27; start++) {
        int least = start;
        for (int at = start * 4 % 27; at != start; at = at * 4 % 27)
            if (at < least)
                least = at;
        if (least != start)
            continue;
        element carried = w->rectangle[start];
        int at = start;
        do {
            at = at * 4 % 27;
            const element t = w->rectangle[at];
            w->rectangle[at] = carried;
            carried = t;
            moved++;
        } while (at != start);
    }
    for (int i = 0; i < 25; i++)
        out[i] = WORD_OF(w->square[i / 5][i % 5]);
    for (int i = 0; i < 28; i++)
        out[25 + i] = WORD_OF(w->rectangle[i]);
    int top = 0, bottom = 4, left = 0, right = 4, at = 53;
    while (top <= bottom && left <= right) {
        for (int j = left; j <= right; j++)
            out[at++] = WORD_OF(w->square[top][j]);
        top++;
        for (int i = top; i <= bottom; i++)
            out[at++] = WORD_OF(w->square[i][right]);
        right--;
        if (top <= bottom)
            for (int j = right; j >= left; j--)
                out[at++] = WORD_OF(w->square[bottom][j]);
        bottom--;
        if (left <= right)
            for (int i = bottom; i >= top; i--)
                out[at++] = WORD_OF(w->square[i][left]);
        left++;
    }
    out[78] = moved;
    out[79] = (u32)at;
}
