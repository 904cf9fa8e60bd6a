// Adler-32, Fletcher-16, FNV-1a, djb2 and Jenkins' one-at-a-time, over one walk of bytes.
// words: 20 5
// run: private u32 1x16
// run: global u8 4x1
#define WORKS 80
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *bytes) {
    u32 a = 1, b = 0, fnv = 2166136261u, djb = 5381, jenkins = 0;
    u16 low = 0, high = 0;
    const int length = 60 + (int)(in[0] % 20);
    for (int i = 0; i < 80; i++)
        bytes[i] = (element)((in[i >> 2] >> ((i & 3) << 3)) & 0xff);
    for (int i = 0; i < length; i++) {
        const u32 byte = (u32)bytes[i];
        a = (a + byte) % 65521;
        b = (b + a) % 65521;
        low = (u16)((low + byte) % 255);
        high = (u16)((high + low) % 255);
        fnv = (fnv ^ byte) * 16777619u;
        djb = (djb << 5) + djb + byte;
        jenkins += byte;
        jenkins += jenkins << 10;
        jenkins ^= jenkins >> 6;
    }
    jenkins += jenkins << 3;
    jenkins ^= jenkins >> 11;
    out[0] = b << 16 | a;
    out[1] = (u32)high << 8 | low;
    out[2] = fnv;
    out[3] = djb;
    out[4] = jenkins + (jenkins << 15);
}
