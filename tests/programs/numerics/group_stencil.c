// Heat in a plate: steps between two planes by a work-group, and the greatest change in the end.
// words: 64 65
// grouped: yes
// run: local f32 2x16
// run: global f32 1x64
// run: local i32 1x32
#define WORKS 1
typedef struct {
    element plane[2][64], change[64];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP)
            w->plane[0][k] = w->plane[1][k] = (element)(in[k] % 1024);
    MEET();
    for (u32 step = 0; step < 10; step++) {
        EACH(i)
            for (u32 k = i; k < 64; k += GROUP) {
                MEM const element *from = w->plane[step & 1];
                const u32 x = k % 8, y = k / 8;
                if (x == 0 || x == 7 || y == 0 || y == 7)
                    continue;
                const element next = (from[k - 1] + from[k + 1] + from[k - 8] + from[k + 8]) / 4;
                const element change = next - from[k];
                w->plane[1 - (step & 1)][k] = next;
                w->change[k] = change < 0 ? -change : change;
            }
        MEET();
    }
    EACH(i)
        for (u32 k = i; k < 64; k += GROUP) {
            const u32 x = k % 8, y = k / 8;
            if (x == 0 || x == 7 || y == 0 || y == 7)
                w->change[k] = 0;
            out[k] = WORD_OF(w->plane[0][k]);
        }
    MEET();
    for (u32 stride = 32; stride > 0; stride /= 2) {
        EACH(i)
            for (u32 k = i; k < stride; k += GROUP)
                w->change[k] = MAX(w->change[k], w->change[k + stride]);
        MEET();
    }
    EACH(i)
        if (i == 0)
            out[64] = WORD_OF(w->change[0]);
}
