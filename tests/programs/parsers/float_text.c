// Floats of the input's words written with six digits and read again, by whole numbers.
// words: 8 40
// run: private u8 1x8
// run: local u8 1x8
#define WORKS 24
typedef element work_t;

/* The float nearest to m * 10^e for small e, by a shift and a division of 64 bits. */
static u32 float_of(u64 m, int e) {
    int exponent = 0;
    if (m == 0)
        return 0;
    for (; e > 0; e--) {
        while (m >> 60) {
            m >>= 1;
            exponent++;
        }
        m *= 10;
    }
    for (; e < 0; e++) {
        while (!(m >> 63)) {
            m <<= 1;
            exponent--;
        }
        m = m / 10 | (m % 10 != 0);
    }
    while (!(m >> 63)) {
        m <<= 1;
        exponent--;
    }
    u64 kept = m >> 40;
    const u64 rest = m & 0xffffffffffUL;
    if (rest > 0x8000000000UL || (rest == 0x8000000000UL && kept & 1))
        kept++;
    if (kept >> 24) {
        kept >>= 1;
        exponent++;
    }
    return (u32)((u64)(exponent + 190) << 23) | (u32)(kept & 0x7fffff);
}

static void program(IN in, OUT out, MEM work_t *text) {
    for (int n = 0; n < 8; n++) {
        const u32 word = (in[n] & 0x87ffffffu) | 0x38000000u;
        int exponent = (int)(word >> 23 & 255) - 150, length = 0, ten = 0;
        u64 m = (word & 0x7fffff) | 0x800000;
        m <<= 30;
        exponent -= 30;
        while (exponent < 0) {
            if (m >> 60) {
                m >>= 1;
                exponent++;
            } else if (exponent < -3) {
                m = m * 10;
                ten--;
                while (m >> 59 && exponent < 0) {
                    m >>= 1;
                    exponent++;
                }
            } else {
                m >>= 1;
                exponent++;
            }
        }
        while (m >= 1000000) {
            const u32 digit = (u32)(m % 10);
            m /= 10;
            ten++;
            if (m < 1000000 && digit >= 5)
                m++;
        }
        if (m == 1000000) {
            m = 100000;
            ten++;
        }
        if (word >> 31)
            text[length++] = '-';
        u32 power = 100000;
        for (int i = 0; i < 6; i++, power /= 10) {
            text[length++] = (element)('0' + m / power % 10);
            if (i == 0)
                text[length++] = '.';
        }
        ten += 5;
        text[length++] = 'e';
        text[length++] = ten < 0 ? '-' : '+';
        text[length++] = (element)('0' + (ten < 0 ? -ten : ten) / 10);
        text[length++] = (element)('0' + (ten < 0 ? -ten : ten) % 10);
        text[length] = 0;
        u32 sign = 0, hash = 0;
        u64 digits = 0;
        int e = 0, after_point = 0, negative = 0;
        for (int i = 0; text[i]; i++) {
            hash = hash * 31 + (u32)text[i];
            if (text[i] == 'e') {
                negative = text[++i] == '-';
                hash = hash * 31 + (u32)text[i];
                for (; text[i + 1]; i++)
                    e = e * 10 + (int)text[i + 1] - '0';
                break;
            }
            if (text[i] == '-')
                sign = 0x80000000u;
            else if (text[i] == '.')
                after_point = 1;
            else {
                digits = digits * 10 + (u64)text[i] - '0';
                e -= 0;
                if (after_point)
                    after_point++;
            }
        }
        if (negative)
            e = -e;
        const u32 back = sign | float_of(digits, e - (after_point - 1));
        out[5 * n] = word;
        out[5 * n + 1] = back;
        out[5 * n + 2] = hash;
        out[5 * n + 3] = (u32)digits;
        out[5 * n + 4] = (u32)e;
    }
}
