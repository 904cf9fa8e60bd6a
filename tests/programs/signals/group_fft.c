// A Fourier transform of 64 points by a work-group, from one half of the memory to the other (Stockham).
// words: 128 128
// grouped: yes
// run: local f32 2x32
// run: global f32 1x16
// tolerance: 0.0001 0.01
#define WORKS 256
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    EACH(i)
        for (u32 k = i; k < 128; k += GROUP)
            w[k] = ELEMENT_OF(in[k]) / 64;
    MEET();
    u32 from = 0;
    for (u32 middle = 1; middle < 64; middle *= 2) {
        EACH(i)
            for (u32 k = i; k < 32; k += GROUP) {
                MEM const element *x = w + from;
                MEM element *y = w + (128 - from);
                const u32 low = k % middle;
                const element angle = (element)-3.14159265f * (element)low / (element)middle;
                const element c = cos(angle), s = sin(angle);
                const element re = x[2 * (k + 32)] * c - x[2 * (k + 32) + 1] * s;
                const element im = x[2 * (k + 32)] * s + x[2 * (k + 32) + 1] * c;
                const u32 at = (k - low) * 2 + low;
                y[2 * at] = x[2 * k] + re;
                y[2 * at + 1] = x[2 * k + 1] + im;
                y[2 * (at + middle)] = x[2 * k] - re;
                y[2 * (at + middle) + 1] = x[2 * k + 1] - im;
            }
        MEET();
        from = 128 - from;
    }
    EACH(i)
        for (u32 k = i; k < 128; k += GROUP)
            out[k] = WORD_OF(w[from + k]);
}
