// A tokenizer as a state machine with tables: names, numbers of three bases, strings with escapes, comments.
// words: 40 44
// run: private u8 1x16
// run: local u8 1x8
// run: global u16 2x2
#define WORKS 80
typedef element work_t;

enum { BLANK, LETTER, DIGIT, QUOTE, BACKSLASH, SLASH, STAR, OTHER, END };
enum { START, NAME, NUMBER, STRING, ESCAPED, AFTER_SLASH, COMMENT, COMMENT_STAR, DONE };

TABLE(char) alphabet[17] = " \nab_x0179\"\"\\/**+";

TABLE(u8) next_state[8][9] = {
    {START, NAME, NUMBER, STRING, DONE, AFTER_SLASH, DONE, DONE, DONE},
    {DONE, NAME, NAME, DONE, DONE, DONE, DONE, DONE, DONE},
    {DONE, NUMBER, NUMBER, DONE, DONE, DONE, DONE, DONE, DONE},
    {STRING, STRING, STRING, DONE, ESCAPED, STRING, STRING, STRING, DONE},
    {STRING, STRING, STRING, STRING, STRING, STRING, STRING, STRING, DONE},
    {DONE, DONE, DONE, DONE, DONE, DONE, COMMENT, DONE, DONE},
    {COMMENT, COMMENT, COMMENT, COMMENT, COMMENT, COMMENT, COMMENT_STAR, COMMENT, DONE},
    {COMMENT, COMMENT, COMMENT, COMMENT, COMMENT, DONE, COMMENT_STAR, COMMENT, DONE}};

static int class_of(int c) {
    if (c == ' ' || c == '\n')
        return BLANK;
    if ((c >= 'a' && c <= 'z') || c == '_')
        return LETTER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    switch (c) {
    case '"':
        return QUOTE;
    case '\\':
        return BACKSLASH;
    case '/':
        return SLASH;
    case '*':
        return STAR;
    case 0:
        return END;
    }
    return OTHER;
}

static void program(IN in, OUT out, MEM work_t *text) {
    int at = 0, tokens = 0, lines = 0;
    u32 count[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 79; i++)
        text[i] = (element)alphabet[(in[i / 2] >> (i % 2 * 16) & 0xffff) % 16];
    text[79] = 0;
    while (text[at]) {
        int state = START, start = at, last = START;
        u32 hash = 5381;
        while (state != DONE) {
            const int kind = class_of((int)text[at]);
            last = state;
            state = next_state[state][kind];
            if (state == START)
                start++;
            if (kind == END)
                break;
            const int closes = state == DONE && ((last == STRING && kind == QUOTE) || (last == COMMENT_STAR && kind == SLASH));
            if (state == DONE && last != START && !closes)
                break;
            lines += text[at] == '\n';
            hash = hash * 33 ^ (u32)text[at];
            at++;
        }
        if (last == START && at <= start)
            break;
        count[last]++;
        if (tokens < 32)
            out[tokens] = (u32)last << 28 | (u32)(at - start) << 20 | (hash & 0xfffff);
        tokens++;
    }
    for (int i = tokens; i < 32; i++)
        out[i] = 0;
    for (int i = 0; i < 9; i++)
        out[32 + i] = count[i];
    out[41] = (u32)tokens;
    out[42] = (u32)lines;
    out[43] = (u32)at;
}
