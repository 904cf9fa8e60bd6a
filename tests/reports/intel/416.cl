// intel-graphics-compiler 416: a permutation of 64-bit lanes, each in two 32-bit halves, went wrong among many live values.
// range: 2
// in: ulong 0x0123456789abcdef 0xfedcba9876543210
// out: int 2*1
typedef struct { uint x, y; } pair;

pair rotated(pair v, uint n)
{
    if (n >= 32) {
        uint t = v.x;
        v.x = v.y;
        v.y = t;
        n -= 32;
    }
    if (n == 0)
        return v;
    pair r = { (v.x << n) | (v.y >> (32 - n)), (v.y << n) | (v.x >> (32 - n)) };
    return r;
}

kernel void test(global const ulong *seeds, global int *same)
{
    pair narrow[25];
    ulong wide[25];
    ulong state = seeds[get_global_id(0)];
    for (int i = 0; i < 25; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        wide[i] = state;
        narrow[i] = (pair){ (uint)state, (uint)(state >> 32) };
    }
    const uchar turns[24] = { 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44 };
    const uchar lanes[24] = { 10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1 };
    for (int round = 0; round < 24; round++) {
        ulong c[5];
        pair d[5];
        for (int i = 0; i < 5; i++) {
            c[i] = wide[i] ^ wide[i + 5] ^ wide[i + 10] ^ wide[i + 15] ^ wide[i + 20];
            d[i].x = narrow[i].x ^ narrow[i + 5].x ^ narrow[i + 10].x ^ narrow[i + 15].x ^ narrow[i + 20].x;
            d[i].y = narrow[i].y ^ narrow[i + 5].y ^ narrow[i + 10].y ^ narrow[i + 15].y ^ narrow[i + 20].y;
        }
        for (int i = 0; i < 5; i++) {
            ulong t = c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1UL);
            pair u = rotated(d[(i + 1) % 5], 1);
            u.x ^= d[(i + 4) % 5].x;
            u.y ^= d[(i + 4) % 5].y;
            for (int j = 0; j < 25; j += 5) {
                wide[i + j] ^= t;
                narrow[i + j].x ^= u.x;
                narrow[i + j].y ^= u.y;
            }
        }
        ulong moving = wide[1];
        pair also = narrow[1];
        for (int i = 0; i < 24; i++) {
            ulong kept = wide[lanes[i]];
            pair too = narrow[lanes[i]];
            wide[lanes[i]] = rotate(moving, (ulong)turns[i]);
            narrow[lanes[i]] = rotated(also, turns[i]);
            moving = kept;
            also = too;
        }
        for (int j = 0; j < 25; j += 5) {
            ulong row[5];
            pair half_row[5];
            for (int i = 0; i < 5; i++) {
                row[i] = wide[j + i];
                half_row[i] = narrow[j + i];
            }
            for (int i = 0; i < 5; i++) {
                wide[j + i] = row[i] ^ (~row[(i + 1) % 5] & row[(i + 2) % 5]);
                narrow[j + i].x = half_row[i].x ^ (~half_row[(i + 1) % 5].x & half_row[(i + 2) % 5].x);
                narrow[j + i].y = half_row[i].y ^ (~half_row[(i + 1) % 5].y & half_row[(i + 2) % 5].y);
            }
        }
        wide[0] ^= 0x8000000080008000UL + round;
        narrow[0].x ^= 0x80008000u + round;
        narrow[0].y ^= 0x80000000u;
    }
    int equal = 1;
    for (int i = 0; i < 25; i++)
        equal &= wide[i] == ((ulong)narrow[i].y << 32 | narrow[i].x);
    same[get_global_id(0)] = equal;
}
