// A parser by descent, written out into functions for each level, over a text with a cursor in a structure.
// words: 12 12
// run: private u8 1x16
// run: local i16 1x8
#define WORKS 32
typedef element work_t;

typedef struct {
    MEM const element *at;
    i32 depth, errors;
} cursor;

static i32 number(cursor *c) {
    i32 x = 0;
    if (*c->at < '0' || *c->at > '9')
        c->errors++;
    while (*c->at >= '0' && *c->at <= '9')
        x = x * 10 + (i32)*c->at++ - '0';
    return x % 1000;
}

static i32 factor(cursor *c) {
    i32 sign = 1;
    while (*c->at == '-' || *c->at == '~') {
        sign = *c->at == '-' ? -sign : sign;
        c->at++;
        c->depth++;
    }
    return sign * number(c);
}

static i32 term(cursor *c) {
    i32 x = factor(c);
    while (*c->at == '*' || *c->at == '%') {
        const int operator_ = (int)*c->at++;
        const i32 y = factor(c);
        x = operator_ == '*' ? x % 1000 * y : y == 0 ? 0 : x % y;
    }
    return x;
}

static i32 sum(cursor *c) {
    i32 x = term(c);
    for (;;) {
        switch ((int)*c->at) {
        case '+':
            c->at++;
            x += term(c);
            break;
        case '-':
            c->at++;
            x -= term(c);
            break;
        default:
            return x;
        }
    }
}

static void program(IN in, OUT out, MEM work_t *text) {
    for (int n = 0; n < 6; n++) {
        for (int i = 0; i < 31; i++) {
            const u32 x = in[2 * n + i / 16] >> (i % 16 * 2) & 3, y = in[(2 * n + i) % 12] >> 27;
            text[i] = (element)(i % 3 == 2 ? (x == 0 ? '+' : x == 1 ? '-' : x == 2 ? '*' : '%') : y == 7 ? '-' : '0' + (int)(y % 10));
        }
        text[30] = text[31] = ';';
        cursor c = {text, 0, 0};
        const i32 value = sum(&c);
        out[2 * n] = (u32)value;
        out[2 * n + 1] = (u32)((c.at - text) << 16 | c.depth << 8 | c.errors);
    }
}
