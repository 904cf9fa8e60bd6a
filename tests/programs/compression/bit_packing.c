// Zigzag, variable-length bytes, and fields of odd widths across words.
// words: 16 30
// run: private u8 1x16
// run: global u8 2x8
#define WORKS 96
typedef u8 work_t;

static void program(IN in, OUT out, MEM work_t *bytes) {
    int end = 0, at = 0;
    for (int i = 0; i < 16; i++) {
        const i32 x = (i32)(in[i] >> (i * 2)) * (i % 2 ? -1 : 1);
        u32 z = (u32)x << 1 ^ (x < 0 ? 0xffffffffu : 0);
        while (z >= 128) {
            bytes[end++] = (u8)(z | 128);
            z >>= 7;
        }
        bytes[end++] = (u8)z;
    }
    for (int i = 0; i < 16; i++) {
        u32 z = 0;
        int shift = 0;
        u8 b;
        do {
            b = bytes[at++];
            z |= (u32)(b & 127) << shift;
            shift += 7;
        } while (b & 128);
        out[i] = z >> 1 ^ (0u - (z & 1));
    }
    for (int i = 0; i < 14; i++)
        out[16 + i] = 0;
    int bit = 0;
    for (int i = 0; i < 16; i++) {
        const int width = 3 + i * 7 % 23;
        const u32 field = in[i] & ((1u << width) - 1);
        out[16 + bit / 32] |= field << (bit % 32);
        if (bit % 32 + width > 32)
            out[17 + bit / 32] |= field >> (32 - bit % 32);
        bit += width;
    }
    out[28] = (u32)bit;
    out[29] = (u32)(end << 8 | at);
}
