// Points in polygons by crossings, clipping by Sutherland and Hodgman, and by Cohen and Sutherland.
// words: 24 44
// run: private f32 1x8
// run: local f32 1x8
// tolerance: 0.0001 0.001
#define WORKS 1
typedef struct {
    element x[8], y[8];
    struct { element x, y; } from[20], to[20];
} work_t;

static int code(element x, element y) { return (x < 16) | (x > 48) << 1 | (y < 16) << 2 | (y > 48) << 3; }

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 8; i++) {
        w->x[i] = w->from[i].x = (element)(in[i] & 63);
        w->y[i] = w->from[i].y = (element)(in[i] >> 6 & 63);
    }
    u32 inside = 0;
    for (int n = 0; n < 16; n++) {
        const element px = (element)(in[8 + n] & 63) + (element)0.5f, py = (element)(in[8 + n] >> 6 & 63) + (element)0.5f;
        int in_it = 0;
        for (int i = 0, j = 7; i < 8; j = i++)
            if ((w->y[i] > py) != (w->y[j] > py) &&
                px < (w->x[j] - w->x[i]) * (py - w->y[i]) / (w->y[j] - w->y[i]) + w->x[i])
                in_it = !in_it;
        inside |= (u32)in_it << n;
    }
    int count = 8;
    for (int edge = 0; edge < 4; edge++) {
        int next = 0;
        for (int i = 0; i < count; i++) {
            const int k = i + 1 == count ? 0 : i + 1;
            const element ax = w->from[i].x, ay = w->from[i].y, bx = w->from[k].x, by = w->from[k].y;
            const element a = edge == 0 ? ax - 16 : edge == 1 ? 48 - ax : edge == 2 ? ay - 16 : 48 - ay;
            const element b = edge == 0 ? bx - 16 : edge == 1 ? 48 - bx : edge == 2 ? by - 16 : 48 - by;
            if (a >= 0) {
                w->to[next].x = ax;
                w->to[next++].y = ay;
            }
            if ((a >= 0) != (b >= 0)) {
                const element t = a / (a - b);
                w->to[next].x = ax + t * (bx - ax);
                w->to[next++].y = ay + t * (by - ay);
            }
        }
        count = next;
        for (int i = 0; i < count; i++)
            w->from[i] = w->to[i];
    }
    for (int i = 0; i < 10; i++) {
        out[2 * i] = WORD_OF(i < count ? w->from[i].x : (element)-1);
        out[2 * i + 1] = WORD_OF(i < count ? w->from[i].y : (element)-1);
    }
    out[20] = WORD_OF((element)count);
    out[21] = WORD_OF((element)(inside & 0xffff));
    for (int n = 0; n < 11; n++) {
        element x0 = (element)(in[n] & 63), y0 = (element)(in[n] >> 6 & 63);
        element x1 = (element)(in[n + 8] & 63), y1 = (element)(in[n + 8] >> 6 & 63);
        int accepted = 0, steps = 0;
        while (steps++ < 8) {
            int a = code(x0, y0), b = code(x1, y1);
            if (!(a | b)) {
                accepted = 1;
                break;
            }
            if (a & b)
                break;
            const int c = a ? a : b;
            element x, y;
            if (c & 8)
                x = x0 + (x1 - x0) * (48 - y0) / (y1 - y0), y = 48;
            else if (c & 4)
                x = x0 + (x1 - x0) * (16 - y0) / (y1 - y0), y = 16;
            else if (c & 2)
                y = y0 + (y1 - y0) * (48 - x0) / (x1 - x0), x = 48;
            else
                y = y0 + (y1 - y0) * (16 - x0) / (x1 - x0), x = 16;
            if (a)
                x0 = x, y0 = y;
            else
                x1 = x, y1 = y;
        }
        out[22 + 2 * n] = WORD_OF(accepted ? x0 + 2 * y0 : (element)-1);
        out[23 + 2 * n] = WORD_OF(accepted ? x1 + 2 * y1 : (element)-1);
    }
}
