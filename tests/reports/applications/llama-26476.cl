// llama.cpp 26476: weights of six bits, put together from two arrays and scaled by signed bytes, were wrong.
// range: 8
// in: uchar 11 48 85 122 159 196 233 14 51 88 125 162 199 236 17 54
// in: uchar 5 96 187 22 113 204 39 130
// in: char 3 -2
// out: float -143 -61 114 -13 114 -140 85 4
kernel void test(global const uchar *ql, global const uchar *qh, global const char *scales, global float *out)
{
    int l = get_global_id(0);
    const uchar mask1 = 0x03, mask2 = 0x0C, mask3 = 0x30, mask4 = 0xC0;
    float4 sums = 0.0f;
    sums.s0 += (float)((char)((ql[l] & 0xF) | ((qh[l] & mask1) << 4)) - 32);
    sums.s1 += (float)((char)((ql[l + 8] & 0xF) | ((qh[l] & mask2) << 2)) - 32);
    sums.s2 += (float)((char)((ql[l] >> 4) | ((qh[l] & mask3) << 0)) - 32);
    sums.s3 += (float)((char)((ql[l + 8] >> 4) | ((qh[l] & mask4) >> 2)) - 32);
    out[l] = sums.s0 * scales[0] + sums.s1 * scales[1] + sums.s2 * scales[0] - sums.s3 * scales[1];
}
