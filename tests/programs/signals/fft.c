// A Fourier transform of 32 points and back, with a table of turns made by a recurrence.
// words: 64 128
// run: private f32 1x4
// run: local f32 1x4
// run: global f64 1x2
// tolerance: 0.0001 0.01
#define WORKS 1
typedef struct {
    element re[32], im[32], c[16], s[16];
} work_t;

static void transform(MEM work_t *w, int back) {
    for (u32 i = 0; i < 32; i++) {
        u32 j = 0;
        for (int b = 0; b < 5; b++)
            j |= (i >> b & 1) << (4 - b);
        if (j <= i)
            continue;
        element t = w->re[i];
        w->re[i] = w->re[j];
        w->re[j] = t;
        t = w->im[i];
        w->im[i] = w->im[j];
        w->im[j] = t;
    }
    for (int middle = 1; middle < 32; middle *= 2)
        for (int start = 0; start < 32; start += 2 * middle)
            for (int k = 0; k < middle; k++) {
                const element c = w->c[k * (16 / middle)], s = back ? w->s[k * (16 / middle)] : -w->s[k * (16 / middle)];
                const int a = start + k, b = a + middle;
                const element re = w->re[b] * c - w->im[b] * s, im = w->re[b] * s + w->im[b] * c;
                w->re[b] = w->re[a] - re;
                w->im[b] = w->im[a] - im;
                w->re[a] += re;
                w->im[a] += im;
            }
}

static void program(IN in, OUT out, MEM work_t *w) {
    w->c[0] = 1;
    w->s[0] = 0;
    for (int i = 1; i < 16; i++) {
        w->c[i] = w->c[i - 1] * (element)0.98078528f - w->s[i - 1] * (element)0.19509032f;
        w->s[i] = w->s[i - 1] * (element)0.98078528f + w->c[i - 1] * (element)0.19509032f;
    }
    for (int i = 0; i < 32; i++) {
        w->re[i] = ELEMENT_OF(in[i]) / 64;
        w->im[i] = ELEMENT_OF(in[32 + i]) / 64;
    }
    transform(w, 0);
    for (int i = 0; i < 32; i++) {
        out[2 * i] = WORD_OF(w->re[i]);
        out[2 * i + 1] = WORD_OF(w->im[i]);
    }
    transform(w, 1);
    for (int i = 0; i < 32; i++) {
        out[64 + 2 * i] = WORD_OF(w->re[i] / 32);
        out[64 + 2 * i + 1] = WORD_OF(w->im[i] / 32);
    }
}
