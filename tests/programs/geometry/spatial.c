// A tree of points in two dimensions by sorting on alternate axes, nearest neighbours with a stack; Morton and Hilbert codes.
// words: 30 46
// run: private i32 1x8
// run: local i16 1x4
// run: global u8 1x2
#define WORKS 1
typedef struct {
    struct point { element x, y; } p[15];
    struct { i8 low, high, axis; } stack[16];
} work_t;

static u32 spread(u32 x) {
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333;
    return (x | x << 1) & 0x55555555;
}

static int along(struct point p, int axis) { return axis ? (int)p.y : (int)p.x; }

static void program(IN in, OUT out, MEM work_t *w) {
    int top = 0;
    for (int i = 0; i < 15; i++) {
        w->p[i].x = (element)(in[i] & 63);
        w->p[i].y = (element)(in[i] >> 6 & 63);
    }
    w->stack[top].low = 0, w->stack[top].high = 15, w->stack[top++].axis = 0;
    while (top > 0) {
        top--;
        const int low = w->stack[top].low, high = w->stack[top].high, axis = w->stack[top].axis;
        for (int i = low + 1; i < high; i++) {
            const struct point p = w->p[i];
            int j = i;
            for (; j > low && along(w->p[j - 1], axis) > along(p, axis); j--)
                w->p[j] = w->p[j - 1];
            w->p[j] = p;
        }
        if (high - low < 3)
            continue;
        const int middle = (low + high) / 2;
        w->stack[top].low = (i8)low, w->stack[top].high = (i8)middle, w->stack[top++].axis = (i8)!axis;
        w->stack[top].low = (i8)(middle + 1), w->stack[top].high = (i8)high, w->stack[top++].axis = (i8)!axis;
    }
    for (int n = 0; n < 15; n++) {
        const struct point q = {(element)(in[15 + n] & 63), (element)(in[15 + n] >> 6 & 63)};
        int best = 1 << 20, best_at = -1;
        u32 visited = 0;
        top = 0;
        w->stack[top].low = 0, w->stack[top].high = 15, w->stack[top++].axis = 0;
        while (top > 0) {
            top--;
            const int low = w->stack[top].low, high = w->stack[top].high, axis = w->stack[top].axis;
            if (low >= high)
                continue;
            const int middle = (low + high) / 2;
            const int dx = (int)w->p[middle].x - (int)q.x, dy = (int)w->p[middle].y - (int)q.y;
            const int distance = dx * dx + dy * dy, off = along(q, axis) - along(w->p[middle], axis);
            visited++;
            if (distance < best || (distance == best && middle < best_at)) {
                best = distance;
                best_at = middle;
            }
            if (off * off <= best) {
                w->stack[top].low = (i8)(off < 0 ? middle + 1 : low);
                w->stack[top].high = (i8)(off < 0 ? high : middle);
                w->stack[top++].axis = (i8)!axis;
            }
            w->stack[top].low = (i8)(off < 0 ? low : middle + 1);
            w->stack[top].high = (i8)(off < 0 ? middle : high);
            w->stack[top++].axis = (i8)!axis;
        }
        out[n] = (u32)best;
        out[15 + n] = visited;
        u32 x = (u32)q.x, y = (u32)q.y, hilbert = 0;
        const u32 morton = spread(x) | spread(y) << 1;
        for (u32 s = 32; s > 0; s /= 2) {
            const u32 rx = (x & s) > 0, ry = (y & s) > 0;
            hilbert += s * s * ((3 * rx) ^ ry);
            if (ry == 0) {
                if (rx == 1) {
                    x = 63 - x;
                    y = 63 - y;
                }
                const u32 t = x;
                x = y;
                y = t;
            }
        }
        out[30 + n] = morton << 16 | (hilbert & 0xffff);
    }
    out[45] = 0;
}
