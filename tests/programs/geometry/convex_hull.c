// The convex hull of points with whole coordinates, and twice its area.
// words: 20 44
// run: private i32 1x8
// run: local i16 1x8
// run: global i64 1x4
#define WORKS 1
typedef struct {
    struct point { element x, y; } points[20], hull[42];
} work_t;

static i64 turn(struct point a, struct point b, struct point c) {
    return (i64)(b.x - a.x) * (c.y - a.y) - (i64)(b.y - a.y) * (c.x - a.x);
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 20; i++) {
        struct point p = {(element)(in[i] & 255), (element)(in[i] >> 8 & 255)};
        int j = i;
        for (; j > 0; j--) {
            const struct point q = w->points[j - 1];
            if (q.x < p.x || (q.x == p.x && q.y <= p.y))
                break;
            w->points[j] = q;
        }
        w->points[j] = p;
    }
    int count = 0;
    for (int i = 0; i < 20; i++) {
        while (count >= 2 && turn(w->hull[count - 2], w->hull[count - 1], w->points[i]) <= 0)
            count--;
        w->hull[count++] = w->points[i];
    }
    const int lower = count + 1;
    for (int i = 18; i >= 0; i--) {
        while (count >= lower && turn(w->hull[count - 2], w->hull[count - 1], w->points[i]) <= 0)
            count--;
        w->hull[count++] = w->points[i];
    }
    count--;
    i64 area = 0;
    for (int i = 0; i < count; i++) {
        const struct point a = w->hull[i], b = w->hull[i + 1 == count ? 0 : i + 1];
        area += (i64)a.x * b.y - (i64)a.y * b.x;
        out[2 * i] = (u32)a.x;
        out[2 * i + 1] = (u32)a.y;
    }
    for (int i = 2 * count; i < 42; i++)
        out[i] = 0;
    out[42] = (u32)count;
    out[43] = (u32)area;
}
