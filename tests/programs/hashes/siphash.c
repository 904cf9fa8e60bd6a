// SipHash-2-4.
// words: 10 6
// run: private u32 1x16
// run: local u32 1x8
#define WORKS 4
typedef u64 work_t;

static void rounds(MEM u64 *v, int count) {
    while (count-- > 0) {
        v[0] += v[1];
        v[1] = (v[1] << 13 | v[1] >> 51) ^ v[0];
        v[0] = v[0] << 32 | v[0] >> 32;
        v[2] += v[3];
        v[3] = (v[3] << 16 | v[3] >> 48) ^ v[2];
        v[0] += v[3];
        v[3] = (v[3] << 21 | v[3] >> 43) ^ v[0];
        v[2] += v[1];
        v[1] = (v[1] << 17 | v[1] >> 47) ^ v[2];
        v[2] = v[2] << 32 | v[2] >> 32;
    }
}

static void program(IN in, OUT out, MEM work_t *v) {
    const u64 k0 = (u64)in[1] << 32 | in[0], k1 = (u64)in[3] << 32 | in[2];
    for (int length = 0; length < 3; length++) {
        v[0] = k0 ^ 0x736f6d6570736575UL;
        v[1] = k1 ^ 0x646f72616e646f6dUL;
        v[2] = k0 ^ 0x6c7967656e657261UL;
        v[3] = k1 ^ 0x7465646279746573UL;
        for (int i = 0; i < length; i++) {
            const u64 m = (u64)in[5 + 2 * i] << 32 | in[4 + 2 * i];
            v[3] ^= m;
            rounds(v, 2);
            v[0] ^= m;
        }
        const u64 last = (u64)length << 59 | (in[8] & 0xffffff);
        v[3] ^= last;
        rounds(v, 2);
        v[0] ^= last;
        v[2] ^= 0xff;
        rounds(v, 4);
        const u64 h = v[0] ^ v[1] ^ v[2] ^ v[3];
        out[2 * length] = (u32)h;
        out[2 * length + 1] = (u32)(h >> 32);
    }
}
