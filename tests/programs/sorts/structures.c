// Insertion sort of structures that are copied whole, by two keys.
// words: 36 36
// run: private u8 1x8
// run: local u16 2x8
// run: global f32 3x2
#define WORKS 12
typedef struct {
    element first;
    u16 second;
    u32 third[2];
} record;
typedef record work_t;

static int before(record a, record b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
}

static void program(IN in, OUT out, MEM work_t *a) {
    for (int i = 0; i < 12; i++) {
        record r;
        r.first = ELEMENT_OF(in[3 * i] & 0x80300003u);
        r.second = (u16)in[3 * i + 1];
        r.third[0] = in[3 * i + 2];
        r.third[1] = (u32)i;
        int j = i;
        while (j > 0 && before(r, a[j - 1])) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = r;
    }
    for (int i = 0; i < 12; i++) {
        out[3 * i] = WORD_OF(a[i].first);
        out[3 * i + 1] = a[i].second + a[i].third[1];
        out[3 * i + 2] = a[i].third[0];
    }
}
