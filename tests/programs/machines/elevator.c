// A state machine of a lift with a queue of calls, one step at a time.
// words: 40 42
// run: private u8 1x16
// run: local i16 1x8
#define WORKS 1
typedef struct {
    element calls[8];
    u8 state, floor, target, timer, first, count;
} work_t;

enum { IDLE, UP, DOWN, OPENING, OPEN, CLOSING, JAMMED };

static void program(IN in, OUT out, MEM work_t *w) {
    u32 served = 0;
    w->state = IDLE;
    w->floor = w->target = w->timer = w->first = w->count = 0;
    for (int step = 0; step < 40; step++) {
        const u32 event = in[step];
        if ((event & 3) == 0 && w->count < 8)
            w->calls[(w->first + w->count++) & 7] = (element)(event >> 8 & 7);
        switch (w->state) {
        case IDLE:
            if (w->count == 0)
                break;
            w->target = (u8)w->calls[w->first];
            w->first = (w->first + 1) & 7;
            w->count--;
            if (w->target == w->floor) {
                w->state = OPENING;
                w->timer = 1;
                break;
            }
            w->state = w->target > w->floor ? UP : DOWN;
            /* falls through */
        case UP:
        case DOWN:
            w->floor += w->state == UP ? 1 : -1;
            if (w->floor != w->target)
                break;
            w->state = OPENING;
            w->timer = 2;
            break;
        case OPENING:
            if (w->timer-- == 0) {
                w->state = OPEN;
                w->timer = 3;
            }
            break;
        case OPEN:
            served++;
            if ((event & 12) == 12)
                w->timer = 3;
            else if (--w->timer == 0)
                w->state = CLOSING;
            break;
        case CLOSING:
            if ((event & 0x30) == 0x30) {
                w->state = event & 0x40 ? JAMMED : OPENING;
                w->timer = 1;
                break;
            }
            w->state = IDLE;
            break;
        default:
            if (event & 0x80)
                w->state = CLOSING;
        }
        out[step] = (u32)w->state << 24 | (u32)w->floor << 16 | (u32)w->target << 8 | w->count;
    }
    out[40] = served;
    out[41] = w->timer;
}
