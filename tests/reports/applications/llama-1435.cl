// llama.cpp 1435: signed bytes behind a half, in structures of 34 bytes.
// range: 64 by 32
// in: uchar 0 52 156 167 178 189 200 211 222 233 244 255 10 21 32 43 54 65 76 87 98 109 120 131 142 153 164 175 186 197 208 219 230 241 0 194 96 107 118 129 140 151 162 173 184 195 206 217 228 239 250 5 16 27 38 49 60 71 82 93 104 115 126 137 148 159 170 181
// out: float -25 -22.25 -19.5 -16.75 -14 -11.25 -8.5 -5.75 -3 -0.25 2.5 5.25 8 10.75 13.5 16.25 19 21.75 24.5 27.25 30 -31.25 -28.5 -25.75 -23 -20.25 -17.5 -14.75 -12 -9.25 -6.5 -3.75 -288 -321 -354 381 348 315 282 249 216 183 150 117 84 51 18 -15 -48 -81 -114 -147 -180 -213 -246 -279 -312 -345 -378 357 324 291 258 225
// out: uint 34 2
typedef char int8_t;

struct block_q8_0 {
    half d;
    int8_t qs[32];
};

kernel void test(global struct block_q8_0 *x, global float *y, global uint *sizes)
{
    const uint i = get_global_id(0) / 32, j = get_local_id(0);
    const float d = vload_half(0, (global half *)&x[i].d);
    y[i * 32 + j] = x[i].qs[j] * d;
    sizes[0] = sizeof(struct block_q8_0);
    sizes[1] = __alignof__(struct block_q8_0);
}
