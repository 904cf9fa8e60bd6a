// Nested values in text: checked with a stack of bits, the deepest level, sums of numbers.
// words: 24 8
// run: private u8 1x16
// run: global u8 2x2
#define WORKS 96
typedef element work_t;

static int write_value(MEM element *text, int at, u32 x) {
    switch (x & 3) {
    case 0:
        text[at++] = '-';
    case 1:
        text[at++] = (element)('1' + (x >> 2 & 7));
        text[at++] = (element)('0' + (x >> 5 & 7));
        return at;
    case 2:
        text[at++] = '"';
        text[at++] = (element)('a' + (x >> 2 & 7));
        text[at++] = '"';
        return at;
    }
    text[at++] = 't';
    return at;
}

static void program(IN in, OUT out, MEM work_t *text) {
    int length = 0, open = 0;
    u32 kinds = 0;
    for (int i = 0; i < 24 && length < 70; i++) {
        const u32 x = in[i];
        if (i > 0 && text[length - 1] != '[' && text[length - 1] != '{')
            text[length++] = ',';
        if (open && kinds & 1) {
            text[length++] = '"';
            text[length++] = (element)('k' + (x >> 20 & 3));
            text[length++] = '"';
            text[length++] = ':';
        }
        if (x >> 28 < 6 && open < 7) {
            text[length++] = x >> 27 & 1 ? '{' : '[';
            kinds = kinds << 1 | (x >> 27 & 1);
            open++;
            continue;
        }
        length = write_value(text, length, x);
        while (open && (x >> 24 & 3) == 0 && (in[0] >> open & 1)) {
            text[length++] = kinds & 1 ? '}' : ']';
            kinds >>= 1;
            open--;
        }
    }
    while (open-- > 0) {
        text[length++] = kinds & 1 ? '}' : ']';
        kinds >>= 1;
    }
    u32 stack = 1, deepest = 0, strings = 0, keys = 0, bad = 0;
    i32 sum = 0;
    for (int i = 0, depth = 0; i < length; i++) {
        switch ((int)text[i]) {
        case '{':
        case '[':
            stack = stack << 1 | (text[i] == '{');
            depth++;
            if ((u32)depth > deepest)
                deepest = (u32)depth;
            break;
        case '}':
        case ']':
            if ((stack & 1) != (text[i] == '}') || depth-- == 0)
                bad++;
            stack >>= 1;
            break;
        case '"':
            strings++;
            do
                i++;
            while (i < length && text[i] != '"');
            if (i + 1 < length && text[i + 1] == ':')
                keys++;
            break;
        case '-': {
            i32 x = 0;
            while (i + 1 < length && text[i + 1] >= '0' && text[i + 1] <= '9')
                x = x * 10 - ((i32)text[++i] - '0');
            sum += x;
            break;
        }
        default:
            if (text[i] >= '0' && text[i] <= '9') {
                i32 x = (i32)text[i] - '0';
                while (i + 1 < length && text[i + 1] >= '0' && text[i + 1] <= '9')
                    x = x * 10 + ((i32)text[++i] - '0');
                sum += x;
            }
        }
    }
    u32 hash = 0;
    for (int i = 0; i < length; i++)
        hash = hash * 31 + (u32)text[i];
    out[0] = (u32)length;
    out[1] = hash;
    out[2] = deepest;
    out[3] = strings;
    out[4] = keys;
    out[5] = (u32)sum;
    out[6] = bad;
    out[7] = stack;
}
