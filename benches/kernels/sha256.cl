#define BLOCKS 4 // of a message, and one of padding

constant uint ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

uint rotated(uint x, uint right) { return rotate(x, 32 - right); }

void compress(uint *state, uint *w)
{
    uint a = state[0], b = state[1], c = state[2], d = state[3];
    uint e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll
    for (uint i = 0; i < 64; i++) {
        uint word = w[i % 16];
        if (i >= 16) {
            uint w15 = w[(i + 1) % 16], w2 = w[(i + 14) % 16];
            word += (rotated(w15, 7) ^ rotated(w15, 18) ^ w15 >> 3) + w[(i + 9) % 16] +
                    (rotated(w2, 17) ^ rotated(w2, 19) ^ w2 >> 10);
            w[i % 16] = word;
        }
        uint first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + bitselect(g, f, e) + ROUND[i] + word;
        uint second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + bitselect(a, b, c ^ a);
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

// The hash of one message an item; word `j` of message `i` is at `j * count + i`, big-endian, the hashes likewise.
kernel void hash(global const uint *restrict messages, global uint *restrict hashes, uint count)
{
    uint item = get_global_id(0);
    uint state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint w[16];
    for (uint block = 0; block < BLOCKS; block++) {
        for (uint j = 0; j < 16; j++)
            w[j] = messages[(block * 16 + j) * count + item];
        compress(state, w);
    }
    w[0] = 0x80000000;
    for (uint j = 1; j < 15; j++)
        w[j] = 0;
    w[15] = BLOCKS * 512;
    compress(state, w);
    for (uint j = 0; j < 8; j++)
        hashes[j * count + item] = state[j];
}
