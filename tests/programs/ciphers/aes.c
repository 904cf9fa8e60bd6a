// AES-128 by bytes; the S-box is computed.
// words: 8 8
// run: private u8 1x8
// run: local u8 2x4
// run: global u8 1x2
#define WORKS 1
typedef struct {
    u8 box[256], inverse[256];
    u8 key[176];
    u8 state[16];
} work_t;

static u8 twice(u8 x) { return (u8)(x << 1 ^ (x & 0x80 ? 0x1b : 0)); }

static u8 times(u8 a, u8 b) {
    u8 product = 0;
    while (b) {
        if (b & 1)
            product ^= a;
        a = twice(a);
        b >>= 1;
    }
    return product;
}

static void make_boxes(MEM work_t *w) {
    u8 p = 1, q = 1;
    do {
        p ^= twice(p);
        q ^= (u8)(q << 1);
        q ^= (u8)(q << 2);
        q ^= (u8)(q << 4);
        if (q & 0x80)
            q ^= 9;
        const u32 x = q | (u32)q << 8;
        const u8 s = (u8)(x ^ x >> 7 ^ x >> 6 ^ x >> 5 ^ x >> 4 ^ 0x63);
        w->box[p] = s;
        w->inverse[s] = p;
    } while (p != 1);
    w->box[0] = 0x63;
    w->inverse[0x63] = 0;
}

static void expand(MEM work_t *w) {
    u8 constant_of_round = 1;
    for (int i = 16; i < 176; i += 4) {
        u8 t[4];
        for (int j = 0; j < 4; j++)
            t[j] = w->key[i - 4 + j];
        if (i % 16 == 0) {
            u8 first = t[0];
            t[0] = w->box[t[1]] ^ constant_of_round;
            t[1] = w->box[t[2]];
            t[2] = w->box[t[3]];
            t[3] = w->box[first];
            constant_of_round = twice(constant_of_round);
        }
        for (int j = 0; j < 4; j++)
            w->key[i + j] = w->key[i - 16 + j] ^ t[j];
    }
}

static void encrypt(MEM work_t *w) {
    for (int i = 0; i < 16; i++)
        w->state[i] ^= w->key[i];
    for (int r = 1; r <= 10; r++) {
        u8 t[16];
        for (int i = 0; i < 16; i++)
            t[i] = w->box[w->state[(i + 4 * (i % 4)) % 16]];
        for (int i = 0; i < 16; i++) {
            const int c = i & 12;
            const u8 a = t[i], b = t[c + (i + 1) % 4], d = t[c + (i + 2) % 4], e = t[c + (i + 3) % 4];
            const u8 mixed = r == 10 ? a : (u8)(twice(a) ^ twice(b) ^ b ^ d ^ e);
            w->state[i] = mixed ^ w->key[16 * r + i];
        }
    }
}

static void decrypt(MEM work_t *w) {
    for (int r = 10; r > 0; r--) {
        u8 t[16];
        for (int i = 0; i < 16; i++)
            t[i] = w->state[i] ^ w->key[16 * r + i];
        for (int i = 0; i < 16; i++) {
            u8 sum = 0;
            const int c = i & 12;
            if (r == 10)
                sum = t[i];
            else
                sum = times(t[i], 14) ^ times(t[c + (i + 1) % 4], 11) ^ times(t[c + (i + 2) % 4], 13) ^
                      times(t[c + (i + 3) % 4], 9);
            w->state[(i + 4 * (i % 4)) % 16] = w->inverse[sum];
        }
    }
    for (int i = 0; i < 16; i++)
        w->state[i] ^= w->key[i];
}

static void program(IN in, OUT out, MEM work_t *w) {
    make_boxes(w);
    for (int i = 0; i < 16; i++) {
        w->key[i] = (u8)(in[i / 4] >> (i % 4 * 8));
        w->state[i] = (u8)(in[4 + i / 4] >> (i % 4 * 8));
    }
    expand(w);
    for (int i = 0; i < 8; i++)
        out[i] = 0;
    encrypt(w);
    for (int i = 0; i < 16; i++)
        out[i / 4] |= (u32)w->state[i] << (i % 4 * 8);
    w->state[in[0] & 15] ^= 1;
    decrypt(w);
    for (int i = 0; i < 16; i++)
        out[4 + i / 4] |= (u32)w->state[i] << (i % 4 * 8);
}
