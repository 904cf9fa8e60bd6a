// llama.cpp 1422: blocks of a half, a word and bytes in a packed structure of 22 bytes were read wrongly.
// range: 32 by 16
// in: uchar 0 56 239 190 173 222 0 17 34 51 68 85 102 119 136 153 170 187 204 221 238 255 0 64 120 86 52 18 5 22 39 56 73 90 107 124 141 158 175 192 209 226 243 4
// out: float 0 0.5 1 1.5 -6 2.5 3 3.5 -4 4.5 5 5.5 6 6.5 -1 7.5 0 -7.5 1 1.5 -6 2.5 -5 3.5 -4 4.5 5 5.5 6 -1.5 7 7.5 -22 -20 -18 16 18 20 22 -8 -6 28 30 -32 2 -28 6 -24 -32 -30 4 -26 8 10 -20 -18 -16 18 -12 -8 26 -4 -2 -32
typedef uchar uint8_t;
typedef uint uint32_t;
typedef int int32_t;

struct __attribute__((packed)) block_q5_0 {
    half d;
    uint32_t qh;
    uint8_t qs[16];
};

kernel void test(global struct block_q5_0 *x, global float *y)
{
    const uint qk = 32;
    const uint i = get_global_id(0) / 16, j = get_local_id(0);
    const float d = vload_half(0, (global half *)&x[i].d);
    uint32_t qh = x[i].qh;
    const uint8_t xh_0 = ((qh >> (j + 0)) << 4) & 0x10;
    const uint8_t xh_1 = ((qh >> (j + 12))) & 0x10;
    const int32_t x0 = ((x[i].qs[j] & 0xf) | xh_0) - 16;
    const int32_t x1 = ((x[i].qs[j] >> 4) | xh_1) - 16;
    y[i * qk + j + 0] = x0 * d;
    y[i * qk + j + qk / 2] = x1 * d;
}
