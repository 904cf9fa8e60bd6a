// Names against patterns with stars, question marks and sets, by going back.
// words: 16 16
// run: private u8 1x16
// run: local u16 1x8
#define WORKS 1
typedef struct {
    element name[13], pattern[13];
} work_t;

static int matches(MEM const element *p, MEM const element *s) {
    MEM const element *star = 0, *mark = 0;
    while (*s) {
        int ok;
        if (*p == '*') {
            star = ++p;
            mark = s;
            continue;
        }
        if (*p == '[') {
            MEM const element *q = p + 1;
            ok = 0;
            for (; *q && *q != ']'; q++)
                ok |= *q == *s;
            if (!*q)
                return -1;
            if (ok) {
                p = q + 1;
                s++;
                continue;
            }
        } else if (*p && (*p == '?' || *p == *s)) {
            p++;
            s++;
            continue;
        }
        if (!star)
            return 0;
        p = star;
        s = ++mark;
    }
    while (*p == '*')
        p++;
    return !*p;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int n = 0; n < 16; n++) {
        int length = 0;
        for (int i = 0; i < 12; i++)
            w->name[i] = (element)('a' + (in[n] >> (2 * i) & 1));
        w->name[6 + in[n] % 7] = 0;
        w->name[12] = 0;
        for (int i = 0; i < 6 && length < 9; i++) {
            const u32 x = in[(n + 1) % 16] >> (5 * i) & 31;
            if (x < 9) {
                w->pattern[length++] = '*';
            } else if (x < 12) {
                w->pattern[length++] = '?';
            } else if (x < 16) {
                w->pattern[length++] = '[';
                w->pattern[length++] = (element)('a' + (x & 1));
                w->pattern[length++] = ']';
            } else {
                w->pattern[length++] = (element)('a' + (x & 1));
            }
        }
        w->pattern[length] = 0;
        out[n] = (u32)(matches(w->pattern, w->name) << 8 | length);
    }
}
