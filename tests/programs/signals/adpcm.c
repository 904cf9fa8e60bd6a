// Sound in four bits each sample, there and back, with tables and clamps.
// words: 48 60
// run: private i32 1x16
// run: global i16 2x4
#define WORKS 24
typedef u8 work_t;

TABLE(i8) index_step[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

typedef struct {
    int value, index;
} state;

static int step_of(int index) {
    int step = 7;
    while (index-- > 0)
        step += step / 10 + 1;
    return step;
}

static state decode(state s, u32 code) {
    const int step = step_of(s.index);
    int difference = step >> 3;
    if (code & 4)
        difference += step;
    if (code & 2)
        difference += step >> 1;
    if (code & 1)
        difference += step >> 2;
    s.value += code & 8 ? -difference : difference;
    s.value = MIN(MAX(s.value, -32768), 32767);
    s.index = MIN(MAX(s.index + index_step[code & 7], 0), 40);
    return s;
}

static void program(IN in, OUT out, MEM work_t *packed) {
    state s = {0, 0};
    int wave = 0;
    for (int n = 0; n < 48; n++) {
        wave += (int)(in[n] & 1023) - 512;
        int difference = wave - s.value;
        u32 code = 0;
        int step = step_of(s.index);
        if (difference < 0) {
            code = 8;
            difference = -difference;
        }
        for (u32 bit = 4; bit; bit >>= 1, step >>= 1)
            if (difference >= step) {
                code |= bit;
                difference -= step;
            }
        if (n & 1)
            packed[n / 2] |= (u8)(code << 4);
        else
            packed[n / 2] = (u8)code;
        s = decode(s, code);
    }
    s.value = s.index = 0;
    for (int n = 0; n < 48; n++) {
        s = decode(s, packed[n / 2] >> (n & 1 ? 4 : 0) & 15);
        out[n] = (u32)s.value;
    }
    for (int i = 0; i < 12; i++)
        out[48 + i] = (u32)packed[2 * i] | (u32)packed[2 * i + 1] << 8 | (u32)s.index << 16;
}
