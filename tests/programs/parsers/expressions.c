// An expression in text: tokens, a stack of operators by precedence, and a value; errors leave early.
// words: 24 10
// run: private u8 1x16
// run: local u8 1x8
// run: global u32 1x4
#define WORKS 1
typedef struct {
    element text[48];
    i32 values[24];
    u8 operators[24];
} work_t;

enum { OK, MISSING_VALUE, MISSING_OPERATOR, UNBALANCED, DIVISION };

static int precedence(int c) { return c == '*' || c == '/' ? 2 : c == '+' || c == '-' ? 1 : 0; }

static int apply(MEM i32 *top, int operator_) {
    const u32 a = (u32)top[-2], b = (u32)top[-1];
    switch (operator_) {
    case '+':
        top[-2] = (i32)(a + b);
        return OK;
    case '-':
        top[-2] = (i32)(a - b);
        return OK;
    case '*':
        top[-2] = (i32)(a * b);
        return OK;
    }
    if (b == 0)
        return DIVISION;
    top[-2] = (i32)(a / b);
    return OK;
}

static int evaluate(MEM work_t *w, int length, i32 *result) {
    int values = 0, operators = 0, expects_value = 1;
    for (int i = 0; i < length;) {
        const int c = (int)w->text[i];
        if (c >= '0' && c <= '9') {
            if (!expects_value)
                return MISSING_OPERATOR;
            u32 x = 0;
            for (; i < length && w->text[i] >= '0' && w->text[i] <= '9'; i++)
                x = x * 10 + (u32)w->text[i] - '0';
            w->values[values++] = (i32)x;
            expects_value = 0;
            continue;
        }
        i++;
        if (c == '(') {
            if (!expects_value)
                return MISSING_OPERATOR;
            w->operators[operators++] = '(';
            continue;
        }
        if (expects_value)
            return MISSING_VALUE;
        while (operators > 0 && w->operators[operators - 1] != '(' &&
               (c == ')' || precedence(w->operators[operators - 1]) >= precedence(c))) {
            const int error = apply(w->values + values, w->operators[--operators]);
            if (error)
                return error;
            values--;
        }
        if (c != ')') {
            w->operators[operators++] = (u8)c;
            expects_value = 1;
        } else if (operators-- == 0) {
            return UNBALANCED;
        }
    }
    if (expects_value)
        return MISSING_VALUE;
    while (operators > 0) {
        const int c = w->operators[--operators];
        if (c == '(')
            return UNBALANCED;
        const int error = apply(w->values + values, c);
        if (error)
            return error;
        values--;
    }
    *result = w->values[0];
    return OK;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int n = 0; n < 5; n++) {
        int length = 0, open = 0;
        for (int i = 0; i < 10; i++) {
            const u32 x = in[4 * n + i % 8] >> (i * 3);
            if ((x & 6) == 6) {
                w->text[length++] = '(';
                open++;
            }
            w->text[length++] = (element)('0' + x % 10);
            if (x & 8)
                w->text[length++] = (element)('0' + (x >> 4) % 10);
            if (open && (x & 0x60) == 0x20) {
                w->text[length++] = ')';
                open--;
            }
            const u32 kind = x >> 7 & 3;
            w->text[length++] = kind == 0 ? '+' : kind == 1 ? '*' : kind == 2 ? '-' : '/';
            if (length > 40)
                break;
        }
        length--;
        while (open-- > 0 && n != 3)
            w->text[length++] = ')';
        i32 value = -1;
        out[2 * n] = (u32)evaluate(w, length, &value);
        out[2 * n + 1] = (u32)value;
    }
}
