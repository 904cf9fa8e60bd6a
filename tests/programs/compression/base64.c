// Base64 of 0 to 12 bytes, and back.
// words: 4 8
// run: private u8 2x16
// run: local u16 1x16
#define WORKS 40
typedef element work_t;

TABLE(u8) digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(int c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *bytes = w, *text = w + 12, *back = w + 28;
    const int length = (int)(in[3] % 13);
    for (int i = 0; i < 40; i++)
        w[i] = 0;
    for (int i = 0; i < length; i++)
        bytes[i] = (element)(in[i / 4] >> (i % 4 * 8) & 255);
    int end = 0;
    for (int i = 0; i < length; i += 3) {
        const int left = length - i;
        u32 group = (u32)bytes[i] << 16;
        if (left > 1)
            group |= (u32)bytes[i + 1] << 8;
        if (left > 2)
            group |= (u32)bytes[i + 2];
        text[end++] = digits[group >> 18];
        text[end++] = digits[group >> 12 & 63];
        text[end++] = left > 1 ? digits[group >> 6 & 63] : '=';
        text[end++] = left > 2 ? digits[group & 63] : '=';
    }
    int count = 0, bits = 0;
    u32 kept = 0;
    for (int i = 0; i < end; i++) {
        const int v = value_of(text[i]);
        if (v < 0)
            break;
        kept = kept << 6 | (u32)v;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            back[count++] = (element)(kept >> bits & 255);
        }
    }
    for (int i = 0; i < 4; i++)
        out[i] = (u32)text[4 * i] | (u32)text[4 * i + 1] << 8 | (u32)text[4 * i + 2] << 16 | (u32)text[4 * i + 3] << 24;
    for (int i = 0; i < 3; i++)
        out[4 + i] = (u32)back[4 * i] | (u32)back[4 * i + 1] << 8 | (u32)back[4 * i + 2] << 16 | (u32)back[4 * i + 3] << 24;
    out[7] = (u32)(count << 8 | length);
}
