// A network of two layers: forward, backward, and steps of learning; only sums and products.
// words: 40 8
// run: private f32 1x8
// run: local f32 1x4
#define WORKS 1
typedef struct {
    element first[4][3], second[5], hidden[4], delta[4];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int at = 0;
    element loss = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            w->first[i][j] = ELEMENT_OF(in[at++]) / 512;
    for (int i = 0; i < 5; i++)
        w->second[i] = ELEMENT_OF(in[at++]) / 512;
    for (int step = 0; step < 6; step++) {
        loss = 0;
        for (int n = 0; n < 4; n++) {
            const element a = (element)(n & 1), b = (element)(n >> 1), wanted = (element)((n & 1) ^ n >> 1);
            element y = w->second[4];
            for (int i = 0; i < 4; i++) {
                const element s = w->first[i][0] * a + w->first[i][1] * b + w->first[i][2];
                w->hidden[i] = s > 0 ? s : s * (element)0.125f;
                y += w->second[i] * w->hidden[i];
            }
            const element error = y - wanted, rate = error * (element)0.0625f;
            loss += error * error;
            for (int i = 0; i < 4; i++)
                w->delta[i] = rate * w->second[i] * (w->hidden[i] > 0 ? 1 : (element)0.125f);
            for (int i = 0; i < 4; i++) {
                w->second[i] -= rate * w->hidden[i];
                w->first[i][0] -= w->delta[i] * a;
                w->first[i][1] -= w->delta[i] * b;
                w->first[i][2] -= w->delta[i];
            }
            w->second[4] -= rate;
        }
        out[step] = WORD_OF(loss);
    }
    out[6] = WORD_OF(w->second[4]);
    out[7] = WORD_OF(w->first[2][1]);
}
