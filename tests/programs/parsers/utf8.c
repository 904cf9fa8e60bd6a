// Code points to bytes and back, with broken sequences counted.
// words: 16 20
// run: private u8 1x16
// run: local u8 1x8
#define WORKS 72
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *bytes) {
    int length = 0;
    for (int i = 0; i < 16; i++) {
        u32 c = in[i] >> (11 + in[i] % 16);
        if (c > 0x10ffff)
            c &= 0xffff;
        if (c < 0x80) {
            bytes[length++] = (element)c;
        } else if (c < 0x800) {
            bytes[length++] = (element)(0xc0 | c >> 6);
            bytes[length++] = (element)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            bytes[length++] = (element)(0xe0 | c >> 12);
            bytes[length++] = (element)(0x80 | (c >> 6 & 63));
            bytes[length++] = (element)(0x80 | (c & 63));
        } else {
            bytes[length++] = (element)(0xf0 | c >> 18);
            bytes[length++] = (element)(0x80 | (c >> 12 & 63));
            bytes[length++] = (element)(0x80 | (c >> 6 & 63));
            bytes[length++] = (element)(0x80 | (c & 63));
        }
    }
    bytes[in[0] % (u32)length] ^= (element)(in[1] & 0x40);
    int count = 0, broken = 0;
    for (int i = 0; i < length;) {
        const u32 first = bytes[i++];
        int more;
        u32 c;
        if (first < 0x80) {
            c = first, more = 0;
        } else if ((first & 0xe0) == 0xc0) {
            c = first & 31, more = 1;
        } else if ((first & 0xf0) == 0xe0) {
            c = first & 15, more = 2;
        } else if ((first & 0xf8) == 0xf0) {
            c = first & 7, more = 3;
        } else {
            broken++;
            continue;
        }
        for (; more > 0; more--) {
            if (i >= length || (bytes[i] & 0xc0) != 0x80)
                goto bad;
            c = c << 6 | (bytes[i++] & 63);
        }
        if (count < 18)
            out[count] = c;
        count++;
        continue;
    bad:
        broken++;
    }
    for (int i = count; i < 18; i++)
        out[i] = 0;
    out[18] = (u32)(count << 16 | length);
    out[19] = (u32)broken;
}
