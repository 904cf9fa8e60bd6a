// Filters with feedback: two biquads in a row, an exponential mean, and a comb.
// words: 32 64
// run: private f32 1x16
// run: local f32 1x8
// run: global f32 2x3
// run: private f64 1x4
#define WORKS 1
typedef struct {
    struct { element b0, b1, b2, a1, a2, z1, z2; } stage[2];
    element comb[5];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    element mean = 0;
    for (int k = 0; k < 2; k++) {
        w->stage[k].b0 = (element)0.25f + (element)k * (element)0.125f;
        w->stage[k].b1 = (element)0.5f;
        w->stage[k].b2 = (element)0.25f;
        w->stage[k].a1 = (element)-0.5f;
        w->stage[k].a2 = (element)0.125f;
        w->stage[k].z1 = w->stage[k].z2 = 0;
    }
    for (int i = 0; i < 5; i++)
        w->comb[i] = 0;
    for (int n = 0; n < 32; n++) {
        element x = ELEMENT_OF(in[n]);
        mean += (x - mean) * (element)0.125f;
        for (int k = 0; k < 2; k++) {
            const element y = w->stage[k].b0 * x + w->stage[k].z1;
            w->stage[k].z1 = w->stage[k].b1 * x - w->stage[k].a1 * y + w->stage[k].z2;
            w->stage[k].z2 = w->stage[k].b2 * x - w->stage[k].a2 * y;
            x = y;
        }
        const element delayed = w->comb[n % 5];
        w->comb[n % 5] = mean + delayed * (element)0.5f;
        out[2 * n] = WORD_OF(x);
        out[2 * n + 1] = WORD_OF(delayed - mean);
    }
}
