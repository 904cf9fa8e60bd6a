// Cycle sort of small keys: each element is written once.
// words: 26 27
// run: private u32 1x8
// run: local u8 2x8
#define WORKS 26
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    u32 writes = 0;
    for (int i = 0; i < 26; i++)
        a[i] = (element)(in[i] % 13);
    for (int start = 0; start < 25; start++) {
        element item = a[start];
        int at = start;
        for (int i = start + 1; i < 26; i++)
            at += a[i] < item;
        if (at == start)
            continue;
        for (;;) {
            while (a[at] == item && at != start)
                at++;
            element t = a[at];
            a[at] = item;
            item = t;
            writes++;
            if (at == start)
                break;
            at = start;
            for (int i = start + 1; i < 26; i++)
                at += a[i] < item;
        }
    }
    for (int i = 0; i < 26; i++)
        out[i] = WORD_OF(a[i]);
    out[26] = writes;
}
