// Determinants of whole numbers without fractions (Bareiss), by expansion, and ranks modulo a prime.
// words: 16 3
// run: private i64 1x16
// run: local i64 1x4
// run: global i64 2x2
#define WORKS 32
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *m) {
    MEM element *n = m + 16;
    for (int i = 0; i < 16; i++) {
        m[i] = (element)(in[i] % 41) - 20;
        n[i] = (element)(in[i] % 3);
    }
    element by_expansion = 0;
    for (int c = 0; c < 4; c++) {
        int o[3], k = 0;
        for (int j = 0; j < 4; j++)
            if (j != c)
                o[k++] = j;
        const element minor = m[4 + o[0]] * (m[8 + o[1]] * m[12 + o[2]] - m[8 + o[2]] * m[12 + o[1]]) -
                              m[4 + o[1]] * (m[8 + o[0]] * m[12 + o[2]] - m[8 + o[2]] * m[12 + o[0]]) +
                              m[4 + o[2]] * (m[8 + o[0]] * m[12 + o[1]] - m[8 + o[1]] * m[12 + o[0]]);
        by_expansion += (c & 1 ? -1 : 1) * m[c] * minor;
    }
    element before = 1, sign = 1;
    for (int k = 0; k < 3; k++) {
        if (m[5 * k] == 0) {
            int i = k + 1;
            while (i < 4 && m[4 * i + k] == 0)
                i++;
            if (i == 4) {
                sign = 0;
                break;
            }
            for (int j = 0; j < 4; j++) {
                const element t = m[4 * k + j];
                m[4 * k + j] = m[4 * i + j];
                m[4 * i + j] = t;
            }
            sign = -sign;
        }
        for (int i = k + 1; i < 4; i++)
            for (int j = k + 1; j < 4; j++)
                m[4 * i + j] = (m[4 * i + j] * m[5 * k] - m[4 * i + k] * m[4 * k + j]) / before;
        before = m[5 * k];
    }
    u32 rank = 0;
    for (int c = 0; c < 4 && rank < 4; c++) {
        u32 i = rank;
        while (i < 4 && n[4 * i + c] == 0)
            i++;
        if (i == 4)
            continue;
        for (int j = 0; j < 4; j++) {
            const element t = n[4 * rank + j];
            n[4 * rank + j] = n[4 * i + j] * n[4 * i + c] % 3;
            n[4 * i + j] = t;
        }
        const element pivot = n[4 * rank + c];
        for (int j = 0; j < 4; j++)
            n[4 * rank + j] = n[4 * rank + j] * pivot % 3;
        for (u32 k = 0; k < 4; k++) {
            if (k == rank)
                continue;
            const element factor = n[4 * k + c];
            for (int j = 0; j < 4; j++)
                n[4 * k + j] = (n[4 * k + j] + (3 - factor) * n[4 * rank + j]) % 3;
        }
        rank++;
    }
    out[0] = (u32)by_expansion;
    out[1] = (u32)(sign * m[15]);
    out[2] = rank;
}
