// Adaptive binary range coding, and its inverse.
// words: 4 6
// run: private u8 1x8
// run: local u8 1x8
// run: global u8 3x1
#define WORKS 80
typedef u8 work_t;

static void program(IN in, OUT out, MEM work_t *bytes) {
    u32 low = 0, range = 0xffffffffu;
    int length = 0, context = 0;
    u16 probability[4] = {2048, 2048, 2048, 2048};
    for (int i = 0; i < 80; i++)
        bytes[i] = 0;
    for (int i = 0; i < 128; i++) {
        const u32 bit = in[i / 32] >> (i % 32) & in[(i / 32 + 1) % 4] >> (i % 31) & 1;
        const u32 split = (range >> 12) * probability[context];
        if (bit) {
            range = split;
            probability[context] += (u16)((4096 - probability[context]) >> 4);
        } else {
            low += split;
            range -= split;
            if (low < split)
                for (int k = length - 1; k >= 0 && ++bytes[k] == 0; k--)
                    ;
            probability[context] -= probability[context] >> 4;
        }
        context = (context << 1 | (int)bit) & 3;
        while (range < 1u << 24) {
            bytes[length++] = (u8)(low >> 24);
            low <<= 8;
            range <<= 8;
        }
    }
    for (int i = 0; i < 4; i++) {
        bytes[length++] = (u8)(low >> 24);
        low <<= 8;
    }
    u32 code = 0, check = 0;
    int at = 0;
    for (; at < 4; at++)
        code = code << 8 | bytes[at];
    range = 0xffffffffu;
    context = 0;
    for (int i = 0; i < 4; i++)
        probability[i] = 2048;
    for (int i = 0; i < 4; i++)
        out[i] = 0;
    for (int i = 0; i < 128; i++) {
        const u32 split = (range >> 12) * probability[context];
        u32 bit;
        if (code < split) {
            bit = 1;
            range = split;
            probability[context] += (u16)((4096 - probability[context]) >> 4);
        } else {
            bit = 0;
            code -= split;
            range -= split;
            probability[context] -= probability[context] >> 4;
        }
        context = (context << 1 | (int)bit) & 3;
        out[i / 32] |= bit << (i % 32);
        while (range < 1u << 24) {
            code = code << 8 | (at < 80 ? bytes[at] : 0);
            at++;
            range <<= 8;
        }
    }
    for (int i = 0; i < length; i++)
        check = check * 31 + bytes[i];
    out[4] = check;
    out[5] = (u32)length;
}
