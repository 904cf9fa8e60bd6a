// XTEA there and back, and TEA.
// words: 6 6
// run: private u32 2x16
// run: global u32 3x1
#define WORKS 4
typedef u32 work_t;

static void program(IN in, OUT out, MEM work_t *key) {
    u32 a = in[0], b = in[1], sum = 0;
    const u32 delta = 0x9e3779b9u;
    for (int i = 0; i < 4; i++)
        key[i] = in[2 + i];
    for (int i = 0; i < 32; i++) {
        a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
        sum += delta;
        b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
    }
    out[0] = a;
    out[1] = b;
    a ^= 1;
    do {
        b -= ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
        sum -= delta;
        a -= ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
    } while (sum);
    out[2] = a;
    out[3] = b;
    for (sum = delta; sum != delta * 33; sum += delta) {
        a += ((b << 4) + key[0]) ^ (b + sum) ^ ((b >> 5) + key[1]);
        b += ((a << 4) + key[2]) ^ (a + sum) ^ ((a >> 5) + key[3]);
    }
    out[4] = a;
    out[5] = b;
}
