// RC4, whose state is an array of 256 bytes.
// words: 6 8
// run: private u8 1x8
// run: local u8 1x16
// run: global u16 2x4
#define WORKS 256
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *s) {
    u8 i = 0, j = 0;
    const int length = 5 + (int)(in[5] % 12);
    for (int k = 0; k < 256; k++)
        s[k] = (element)k;
    for (int k = 0; k < 256; k++) {
        const int at = k % length;
        j += (u8)(s[k] + (in[at / 4] >> (at % 4 * 8)));
        element t = s[k];
        s[k] = s[j];
        s[j] = t;
    }
    j = 0;
    for (int k = 0; k < 8; k++) {
        u32 word = 0;
        for (int n = 0; n < 4; n++) {
            i++;
            j += (u8)s[i];
            element t = s[i];
            s[i] = s[j];
            s[j] = t;
            word = word << 8 | (u32)s[(s[i] + s[j]) & 255];
        }
        out[k] = word;
    }
}
