// Binary search for the first element not below a key, in a table and in memory.
// words: 40 16
// run: private u32 2x16
// run: local i32 1x16
// run: global f32 3x3
#define WORKS 32
typedef element work_t;

TABLE(u16) squares[20] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361};

static int first_not_below(MEM const element *a, int count, element key) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void program(IN in, OUT out, MEM work_t *a) {
    element sum = 0;
    for (int i = 0; i < 32; i++) {
        sum += (element)(in[i] % 8);
        a[i] = sum;
    }
    for (int i = 0; i < 8; i++)
        out[i] = (u32)first_not_below(a, 32, (element)(in[32 + i] % 128));
    for (int i = 0; i < 8; i++) {
        const u32 key = in[32 + i] % 400;
        int low = -1, high = 20;
        while (high - low > 1) {
            int middle = (low + high) >> 1;
            if (squares[middle] <= key)
                low = middle;
            else
                high = middle;
        }
        out[8 + i] = (u32)low;
    }
}
