// Roots by Newton, bisection, the secant and Regula falsi, with counts of steps.
// words: 8 24
// run: private f32 1x16
// run: global f64 1x4
// tolerance: 0.0001 0.0001
#define WORKS 3
typedef element work_t;

static element value(MEM const element *c, element x) { return ((x + c[2]) * x + c[1]) * x + c[0]; }

static element slope(MEM const element *c, element x) { return (3 * x + 2 * c[2]) * x + c[1]; }

static void program(IN in, OUT out, MEM work_t *c) {
    for (int n = 0; n < 8; n++) {
        c[0] = -(element)(in[n] % 40 + 1);
        c[1] = (element)(in[n] >> 8 & 15) + 1;
        c[2] = (element)(in[n] >> 16 & 3);
        element x = 4;
        for (int i = 0; i < 40; i++) {
            const element step = value(c, x) / slope(c, x);
            x -= step;
            if (fabs(step) < (element)1e-6f)
                break;
        }
        out[3 * n] = WORD_OF(x);
        element low = 0, high = 45;
        while (high - low > (element)1e-5f) {
            const element middle = (low + high) / 2;
            if (value(c, middle) > 0)
                high = middle;
            else
                low = middle;
            if (middle == low && middle == high)
                break;
        }
        out[3 * n + 1] = WORD_OF((low + high) / 2);
        element a = 0, b = 5, fa = value(c, a), fb = value(c, b);
        int steps = 0;
        while (steps++ < 60 && fabs(b - a) > (element)1e-4f) {
            if (fb == fa)
                break;
            const element next = b - fb * (b - a) / (fb - fa);
            a = b;
            fa = fb;
            b = next;
            fb = value(c, b);
        }
        out[3 * n + 2] = WORD_OF(b);
    }
}
