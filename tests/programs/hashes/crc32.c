// CRC-32, by bits and with a table made on the way.
// words: 12 4
// run: private u32 1x16
// run: local u32 2x8
#define WORKS 256
typedef u32 work_t;

static void program(IN in, OUT out, MEM work_t *table) {
    u32 bitwise = 0xffffffffu, tabled = 0xffffffffu, check = 0;
    for (u32 i = 0; i < 256; i++) {
        u32 c = i;
        for (int k = 8; k > 0; k--)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[i] = c;
        check += c;
    }
    for (int i = 0; i < 48; i++) {
        const u8 byte = (u8)(in[i / 4] >> (i % 4 * 8));
        bitwise ^= byte;
        for (int k = 0; k < 8; k++)
            bitwise = bitwise >> 1 ^ (0xedb88320u & (0u - (bitwise & 1)));
        tabled = tabled >> 8 ^ table[(tabled ^ byte) & 255];
    }
    out[0] = ~bitwise;
    out[1] = ~tabled;
    out[2] = check;
    out[3] = table[in[0] & 255];
}
