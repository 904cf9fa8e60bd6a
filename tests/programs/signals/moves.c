// Arrays moved up and down by one, by three and by a number of the input; parts that overlap.
// words: 20 60
// run: private u8 1x16
// run: private u16 1x8
// run: local i32 1x8
// run: local u64 1x4
// run: global u8 1x4
// run: global f32 2x4
#define WORKS 20
typedef element work_t;

static void move(MEM element *to, MEM const element *from, int count) {
    if (to < from)
        for (int i = 0; i < count; i++)
            to[i] = from[i];
    else
        for (int i = count - 1; i >= 0; i--)
            to[i] = from[i];
}

static void show(MEM const element *a, OUT out, int at) {
    for (int i = 0; i < 20; i++)
        out[at + i] = at == 0 ? WORD_OF(a[i]) : out[at + i - 20] * 3 + WORD_OF(a[i]);
}

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 20; i++)
        a[i] = ELEMENT_OF(in[i]);
    for (int i = 15; i > 0; i--)
        a[i] = a[i - 1];
    for (int i = 0; i < 7; i++)
        a[i] = a[i + 1];
    for (int i = 19; i >= 12; i--)
        a[i] = a[i - 3];
    show(a, out, 0);
    for (int i = 4; i > 0; i--)
        a[i + 8] = a[i + 7];
    a[8] = a[0];
    a[9] = a[8];
    for (int i = 0; i < 6; i++)
        a[13 - i] = a[i + 6];
    show(a, out, 20);
    const int shift = (int)(in[0] % 5), count = (int)(in[1] % 8) + 4;
    move(a + 2 + shift, a + 2, count);
    move(a + 3, a + 3 + shift, count);
    show(a, out, 40);
}
