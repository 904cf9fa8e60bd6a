// intel-graphics-compiler 392: of structures by value, aligned to 64 bytes, the second halves were the first.
// range: 2
// value: float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// value: float 100 200 300 400
// value: float 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225
// out: float 100 200 298 394 88 180 270 358 44 128 210 290 -32 44 118 190 200 401 600 797 192 385 576 765 152 337 520 701 80 257 432 605
typedef struct __attribute__((aligned(64))) {
    float s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf;
} sixteen;

kernel void test(sixteen a, float4 b, sixteen c, global float4 *out)
{
    int id = get_global_id(0);
    float4 first = ((float4)(a.s0, a.s1, a.s2, a.s3) + b) * (id + 1) - (float4)(c.s0, c.s1, c.s2, c.s3);
    float4 second = ((float4)(a.s4, a.s5, a.s6, a.s7) + b) * (id + 1) - (float4)(c.s4, c.s5, c.s6, c.s7);
    float4 third = ((float4)(a.s8, a.s9, a.sa, a.sb) + b) * (id + 1) - (float4)(c.s8, c.s9, c.sa, c.sb);
    float4 fourth = ((float4)(a.sc, a.sd, a.se, a.sf) + b) * (id + 1) - (float4)(c.sc, c.sd, c.se, c.sf);
    out[4 * id] = first;
    out[4 * id + 1] = second;
    out[4 * id + 2] = third;
    out[4 * id + 3] = fourth;
}
