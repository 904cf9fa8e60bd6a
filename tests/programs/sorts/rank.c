// Sorting by rank: each work-item counts what comes before its elements.
// words: 48 48
// grouped: yes
// run: local u32 2x16
// run: global i64 1x24
#define WORKS 96
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    EACH(i)
        for (u32 k = i; k < 48; k += GROUP)
            a[k] = ELEMENT_OF(in[k] % 31);
    MEET();
    EACH(i)
        for (u32 k = i; k < 48; k += GROUP) {
            u32 rank = 0;
            for (u32 j = 0; j < 48; j++)
                rank += a[j] < a[k] || (a[j] == a[k] && j < k);
            a[48 + rank] = a[k];
        }
    MEET();
    EACH(i)
        for (u32 k = i; k < 48; k += GROUP)
            out[k] = WORD_OF(a[48 + k]);
}
