// MurmurHash3 of 0 to 15 bytes, whose tail falls through a switch.
// words: 5 16
// run: private u32 1x16
// run: local u8 2x8
#define WORKS 20
typedef u8 work_t;

static u32 mix(u32 k) {
    k *= 0xcc9e2d51u;
    k = ROTL32(k, 15);
    return k * 0x1b873593u;
}

static void program(IN in, OUT out, MEM work_t *bytes) {
    for (int i = 0; i < 20; i++)
        bytes[i] = (u8)(in[i / 4] >> (24 - i % 4 * 8));
    for (u32 length = 0; length < 16; length++) {
        u32 h = in[4], k = 0;
        const u32 blocks = length / 4;
        for (u32 i = 0; i < blocks; i++) {
            k = bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 | (u32)bytes[4 * i + 3] << 24;
            h ^= mix(k);
            h = ROTL32(h, 13) * 5 + 0xe6546b64u;
        }
        MEM const u8 *tail = bytes + blocks * 4;
        k = 0;
        switch (length & 3) {
        case 3:
            k ^= (u32)tail[2] << 16;
        case 2:
            k ^= (u32)tail[1] << 8;
        case 1:
            k ^= tail[0];
            h ^= mix(k);
        }
        h ^= length;
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        out[length] = h ^ h >> 16;
    }
}
