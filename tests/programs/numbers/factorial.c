// Factorials and powers of two with hundreds of decimal digits.
// words: 1 20
// run: private u32 1x4
// run: local u16 1x4
#define WORKS 40
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *digits) {
    const u32 n = 20 + in[0] % 24;
    int length = 1;
    for (int i = 0; i < 40; i++)
        digits[i] = 0;
    digits[0] = 1;
    for (u32 k = 2; k <= n; k++) {
        u32 carry = 0;
        for (int i = 0; i < length || carry; i++) {
            if (i >= length)
                length = i + 1;
            carry += (u32)digits[i] * k;
            digits[i] = (element)(carry % 1000);
            carry /= 1000;
        }
    }
    u32 sum = 0;
    for (int i = 0; i < length; i++)
        sum += digits[i] / 100 + digits[i] / 10 % 10 + digits[i] % 10;
    for (int i = 0; i < 18; i++)
        out[i] = WORD_OF(digits[i]);
    out[18] = (u32)length;
    out[19] = sum;
}
