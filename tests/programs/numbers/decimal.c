// Numbers to decimal digits and back, long division by hand, and bases 2 to 36.
// words: 6 24
// run: private u8 1x16
// run: local u8 1x8
// run: global u32 1x3
#define WORKS 72
typedef element work_t;

static int print(MEM element *text, u64 x, u32 base) {
    int length = 0;
    do {
        const u32 digit = (u32)(x % base);
        text[length++] = (element)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        x /= base;
    } while (x != 0);
    for (int i = 0, j = length - 1; i < j; i++, j--) {
        element t = text[i];
        text[i] = text[j];
        text[j] = t;
    }
    return length;
}

static u64 read(MEM const element *text, int length, u32 base) {
    u64 x = 0;
    while (length-- > 0) {
        const u32 c = (u32)*text++;
        x = x * base + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return x;
}

static void program(IN in, OUT out, MEM work_t *text) {
    for (int i = 0; i < 6; i++) {
        const u32 base = i == 0 ? 10 : 2 + in[i] % 35;
        const u64 x = ((u64)in[i] << 32 | in[(i + 1) % 6]) >> (7 * i);
        const int length = print(text, x, base);
        const u64 back = read(text, length, base);
        u32 hash = 0;
        for (int k = 0; k < length; k++)
            hash = hash * 37 + (u32)text[k];
        out[4 * i] = (u32)length;
        out[4 * i + 1] = hash;
        out[4 * i + 2] = (u32)back ^ (u32)x;
        out[4 * i + 3] = (u32)(back >> 32);
    }
}
