// A cosine transform of 8 by 8 whole numbers, rows then columns, quantized and listed in zigzag.
// words: 64 64
// run: private i32 1x4
// run: local i16 1x8
#define WORKS 64
typedef element work_t;

TABLE(i16) cosines[8] = {1024, 1004, 946, 851, 724, 569, 392, 200};

static int cosine(int k) {
    k &= 31;
    const int middle = k > 16 ? 32 - k : k;
    return middle == 8 ? 0 : middle > 8 ? -cosines[16 - middle] : cosines[middle];
}

static void line(MEM element *a, int stride) {
    int t[8];
    for (int k = 0; k < 8; k++) {
        int sum = 0;
        for (int n = 0; n < 8; n++)
            sum += (int)a[n * stride] * cosine((2 * n + 1) * k);
        t[k] = (k == 0 ? sum * 181 >> 8 : sum) >> 11;
    }
    for (int k = 0; k < 8; k++)
        a[k * stride] = (element)t[k];
}

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 64; i++)
        a[i] = (element)((int)(in[i] & 255) - 128);
    for (int i = 0; i < 8; i++)
        line(a + 8 * i, 1);
    for (int i = 0; i < 8; i++)
        line(a + i, 8);
    int x = 0, y = 0;
    for (int i = 0; i < 64; i++) {
        out[i] = (u32)(a[8 * y + x] / (4 + x + y));
        if ((x + y) % 2 == 0) {
            if (x == 7)
                y++;
            else if (y == 0)
                x++;
            else
                x++, y--;
        } else {
            if (y == 7)
                x++;
            else if (x == 0)
                y++;
            else
                x--, y++;
        }
    }
}
