// Selection sort from both ends.
// words: 33 33
// run: private f32 1x8
// run: local u64 3x4
#define WORKS 33
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 33; i++)
        a[i] = ELEMENT_OF(in[i]);
    int low = 0, high = 32;
    while (low < high) {
        int least = low, most = low;
        for (int i = low + 1; i <= high; i++) {
            if (a[i] < a[least])
                least = i;
            if (a[i] >= a[most])
                most = i;
        }
        element t = a[low];
        a[low] = a[least];
        a[least] = t;
        if (most == low)
            most = least;
        t = a[high];
        a[high] = a[most];
        a[most] = t;
        low++;
        high--;
    }
    for (int i = 0; i < 33; i++)
        out[i] = WORD_OF(a[i]);
}
