// LZW with a dictionary of 64 entries, there and back.
// words: 70 72
// run: private u8 1x8
// run: global i16 2x4
#define WORKS 1
typedef struct {
    element prefix[64], last[64];
    element codes[70];
    u8 stack[70], text[80];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int entries = 4, length = 0, current = (int)(in[0] & 3);
    for (int i = 1; i <= 70; i++) {
        const int c = i < 70 ? (int)(in[i] & in[i] >> 2 & 3) : -1;
        int found = -1;
        if (c >= 0)
            for (int k = 4; k < entries; k++)
                if (w->prefix[k] == current && w->last[k] == c) {
                    found = k;
                    break;
                }
        if (found >= 0) {
            current = found;
            continue;
        }
        w->codes[length++] = (element)current;
        if (c < 0)
            break;
        if (entries < 64) {
            w->prefix[entries] = (element)current;
            w->last[entries++] = (element)c;
        }
        current = c;
    }
    int end = 0, previous = -1;
    entries = 4;
    for (int i = 0; i < length; i++) {
        int code = w->codes[i], top = 0;
        if (previous >= 0 && entries < 64) {
            int first = code < entries ? code : previous;
            while (first >= 4)
                first = w->prefix[first];
            w->prefix[entries] = (element)previous;
            w->last[entries++] = (element)first;
        }
        previous = code;
        while (code >= 4) {
            w->stack[top++] = (u8)w->last[code];
            code = w->prefix[code];
        }
        w->text[end++] = (u8)code;
        while (top > 0)
            w->text[end++] = w->stack[--top];
    }
    for (int i = 0; i < 70; i++)
        out[i] = i < end ? w->text[i] : 99;
    out[70] = (u32)length;
    out[71] = (u32)end;
}
