// The strength of a tone by Goertzel's filter, autocorrelation, and zero crossings.
// words: 48 12
// run: private f32 1x8
// run: global f32 1x4
// tolerance: 0.0002 0.5
#define WORKS 48
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *x) {
    for (int n = 0; n < 48; n++)
        x[n] = ELEMENT_OF(in[n]) / 256 + (n % 8 < 4 ? 1 : -1);
    for (int k = 0; k < 6; k++) {
        const element turn = 2 * cos((element)k * (element)0.39269908f);
        element a = 0, b = 0;
        for (int n = 0; n < 48; n++) {
            const element c = x[n] + turn * a - b;
            b = a;
            a = c;
        }
        out[k] = WORD_OF(a * a + b * b - turn * a * b);
    }
    int best = 1;
    element most = 0;
    for (int lag = 1; lag < 16; lag++) {
        element sum = 0;
        for (int n = lag; n < 48; n++)
            sum += x[n] * x[n - lag];
        if (lag == 1 || sum > most + (element)0.01f) {
            most = sum;
            best = lag;
        }
    }
    int crossings = 0;
    for (int n = 1; n < 48; n++)
        crossings += (x[n] < 0) != (x[n - 1] < 0);
    out[6] = WORD_OF((element)best);
    out[7] = WORD_OF(most);
    out[8] = WORD_OF((element)crossings);
    out[9] = out[10] = out[11] = 0;
}
