// xxHash of 32 bits over bytes of several lengths.
// words: 12 5
// run: private u8 1x16
// run: global u8 2x8
#define WORKS 48
typedef element work_t;

#define P1 2654435761u
#define P2 2246822519u
#define P3 3266489917u
#define P4 668265263u
#define P5 374761393u

static u32 word_at(MEM const element *p) {
    return (u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static u32 hash(MEM const element *p, int length, u32 seed) {
    MEM const element *end = p + length;
    u32 h;
    if (length >= 16) {
        u32 lanes[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
        do {
            for (int i = 0; i < 4; i++, p += 4) {
                lanes[i] += word_at(p) * P2;
                lanes[i] = ROTL32(lanes[i], 13) * P1;
            }
        } while (end - p >= 16);
        h = ROTL32(lanes[0], 1) + ROTL32(lanes[1], 7) + ROTL32(lanes[2], 12) + ROTL32(lanes[3], 18);
    } else {
        h = seed + P5;
    }
    h += (u32)length;
    for (; end - p >= 4; p += 4) {
        h += word_at(p) * P3;
        h = ROTL32(h, 17) * P4;
    }
    for (; p != end; p++) {
        h += *p * P5;
        h = ROTL32(h, 11) * P1;
    }
    h ^= h >> 15;
    h *= P2;
    h ^= h >> 13;
    h *= P3;
    return h ^ h >> 16;
}

static void program(IN in, OUT out, MEM work_t *bytes) {
    for (int i = 0; i < 48; i++)
        bytes[i] = (element)(in[i / 4] >> (i % 4 * 8));
    out[0] = hash(bytes, 0, 7);
    out[1] = hash(bytes, 3, in[1]);
    out[2] = hash(bytes + 1, 17, in[2]);
    out[3] = hash(bytes, 48, in[3]);
    out[4] = hash(bytes + 5, (int)(in[4] % 40), 0);
}
