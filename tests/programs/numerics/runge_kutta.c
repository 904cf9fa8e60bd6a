// An orbit by Runge and Kutta, by Euler and by leapfrog; bit-equal, since it only adds and multiplies.
// words: 4 12
// run: private f32 1x16
// run: local f32 1x8
// run: global f64 1x4
#define WORKS 24
typedef element work_t;

static void slopes(MEM const element *y, MEM element *d) {
    d[0] = y[2];
    d[1] = y[3];
    d[2] = -y[0] - y[0] * y[1] * 2;
    d[3] = -y[1] - (y[0] * y[0] - y[1] * y[1]);
}

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *y = w, *k = w + 4, *t = w + 20;
    const element h = (element)0.0625f;
    for (int i = 0; i < 4; i++)
        y[i] = ELEMENT_OF(in[i]) / 4096;
    for (int step = 0; step < 20; step++) {
        slopes(y, k);
        for (int s = 1; s < 4; s++) {
            const element f = s == 3 ? h : h / 2;
            for (int i = 0; i < 4; i++)
                t[i] = y[i] + f * k[4 * (s - 1) + i];
            slopes(t, k + 4 * s);
        }
        for (int i = 0; i < 4; i++)
            y[i] += h * (element)0.125f * (k[i] + 3 * (k[4 + i] + k[8 + i]) + k[12 + i]);
    }
    for (int i = 0; i < 4; i++)
        out[i] = WORD_OF(y[i]);
    for (int i = 0; i < 4; i++)
        y[i] = ELEMENT_OF(in[i]) / 4096;
    for (int step = 0; step < 30; step++) {
        slopes(y, k);
        for (int i = 0; i < 4; i++)
            y[i] += h * k[i];
    }
    for (int i = 0; i < 4; i++)
        out[4 + i] = WORD_OF(y[i]);
    for (int i = 0; i < 4; i++)
        y[i] = ELEMENT_OF(in[i]) / 4096;
    for (int step = 0; step < 30; step++) {
        slopes(y, k);
        y[2] += h * k[2];
        y[3] += h * k[3];
        y[0] += h * y[2];
        y[1] += h * y[3];
    }
    for (int i = 0; i < 4; i++)
        out[8 + i] = WORD_OF(y[i]);
}
