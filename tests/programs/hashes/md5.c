// MD5 of a message of 70 bytes.
// words: 18 4
// run: private u32 1x16
// run: global u8 2x4
#define WORKS 128
typedef u8 work_t;

TABLE(u32) sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
TABLE(u8) turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

typedef struct {
    u32 a, b, c, d;
} state;

static state block(state s, MEM const u8 *bytes) {
    state t = s;
    for (u32 i = 0; i < 64; i++) {
        u32 f, k;
        switch (i / 16) {
        case 0:
            f = (t.b & t.c) | (~t.b & t.d);
            k = i;
            break;
        case 1:
            f = (t.d & t.b) | (~t.d & t.c);
            k = (5 * i + 1) % 16;
            break;
        case 2:
            f = t.b ^ t.c ^ t.d;
            k = (3 * i + 5) % 16;
            break;
        default:
            f = t.c ^ (t.b | ~t.d);
            k = 7 * i % 16;
        }
        const u32 word = (u32)bytes[4 * k] | (u32)bytes[4 * k + 1] << 8 | (u32)bytes[4 * k + 2] << 16 |
                         (u32)bytes[4 * k + 3] << 24;
        const u32 sum = f + t.a + sines[i] + word, turn = turns[i / 16][i % 4];
        t.a = t.d;
        t.d = t.c;
        t.c = t.b;
        t.b += ROTL32(sum, turn);
    }
    s.a += t.a;
    s.b += t.b;
    s.c += t.c;
    s.d += t.d;
    return s;
}

static void program(IN in, OUT out, MEM work_t *bytes) {
    state s = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    for (int i = 0; i < 128; i++)
        bytes[i] = i < 70 ? (u8)(in[i / 4] >> (i % 4 * 8)) : 0;
    bytes[70] = 0x80;
    bytes[120] = (u8)(70 * 8);
    bytes[121] = (u8)(70 * 8 >> 8);
    s = block(s, bytes);
    s = block(s, bytes + 64);
    out[0] = s.a;
    out[1] = s.b;
    out[2] = s.c;
    out[3] = s.d;
}
