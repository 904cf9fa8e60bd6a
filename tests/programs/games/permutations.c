// Permutations in order and by Heap's exchanges, combinations, Gray codes, ranks, and partitions.
// words: 2 30
// run: private u8 1x16
// run: local i32 1x8
// run: global u16 1x4
#define WORKS 20
typedef element work_t;

static int next_permutation(MEM element *a, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && a[i] >= a[i + 1])
        i--;
    if (i < 0)
        return 0;
    while (a[j] <= a[i])
        j--;
    element t = a[i];
    a[i] = a[j];
    a[j] = t;
    for (i++, j = n - 1; i < j; i++, j--) {
        t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
    return 1;
}

static void program(IN in, OUT out, MEM work_t *w) {
    MEM element *a = w, *c = w + 6, *part = w + 12;
    for (int i = 0; i < 6; i++)
        a[i] = (element)(in[0] >> (4 * i) & 3);
    for (int n = 0; n < 8; n++) {
        u32 word = 0;
        next_permutation(a, 6);
        for (int i = 0; i < 6; i++)
            word = word << 4 | (u32)a[i];
        out[n] = word;
    }
    u32 count = 1, hash = 0;
    for (int i = 0; i < 5; i++) {
        a[i] = (element)i;
        c[i] = 0;
    }
    for (int i = 1; i < 5;) {
        if ((int)c[i] < i) {
            const int j = i & 1 ? (int)c[i] : 0;
            const element t = a[j];
            a[j] = a[i];
            a[i] = t;
            c[i]++;
            i = 1;
            count++;
            u32 word = 0;
            for (int k = 0; k < 5; k++)
                word = word * 5 + (u32)a[k];
            hash = hash * 31 + word;
        } else {
            c[i++] = 0;
        }
    }
    out[8] = count;
    out[9] = hash;
    u32 rank = in[1] % 720;
    u32 used = 0;
    for (u32 i = 6, factorial = 120; i > 0; i--) {
        u32 digit = rank / factorial, k = 0;
        rank %= factorial;
        for (; used >> k & 1 || digit > 0; k++)
            if (!(used >> k & 1))
                digit--;
        used |= 1u << k;
        out[16 - i] = k;
        if (i > 1)
            factorial /= i - 1;
    }
    u32 gray = 0;
    for (u32 i = 0; i < 40; i++) {
        const u32 code = i ^ i >> 1;
        u32 back = code;
        for (u32 shift = 1; shift < 32; shift *= 2)
            back ^= back >> shift;
        gray = gray * 7 + code + (back != i) * 1000;
    }
    out[16] = gray;
    int length = 1;
    u32 partitions = 0, largest = 0;
    part[0] = (element)(in[1] % 5 + 3);
    for (;;) {
        partitions++;
        if ((u32)length > largest)
            largest = (u32)length;
        int left = 0;
        while (length > 0 && part[length - 1] == 1) {
            left++;
            length--;
        }
        if (length == 0)
            break;
        const int top = (int)--part[length - 1];
        left++;
        while (left > top) {
            part[length++] = (element)top;
            left -= top;
        }
        part[length++] = (element)left;
    }
    out[17] = partitions;
    out[18] = largest;
    u32 set = (1u << 3) - 1;
    for (int n = 0; n < 10; n++) {
        const u32 low = set & (0 - set), ripple = set + low;
        out[19 + n] = set;
        set = ((ripple ^ set) >> 2) / low | ripple;
    }
    out[29] = set;
}
