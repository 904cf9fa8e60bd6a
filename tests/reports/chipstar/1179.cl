// chipStar 1179: the larger of two halves, alone and in pairs, with a number that is none.
// needs: cl_khr_fp16
// in: half 0x3c00 0xc000 0x7e00 0x4000 0x7c00 0x0001
// out: half 0x3c00 0x4000 0x4000 0x7c00 0x3c00 0x0001
// out: half 0x3c00 0x4000 0xc000 0x0001
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const half *in, global half *larger, global half *pairs)
{
    larger[0] = fmax(in[0], in[1]);
    larger[1] = fmax(in[2], in[3]);
    larger[2] = fmax(in[3], in[2]);
    larger[3] = fmax(in[3], in[4]);
    larger[4] = max(in[0], in[1]);
    larger[5] = fmin(in[0], in[5]);
    half2 a = fmax((half2)(in[0], in[2]), (half2)(in[1], in[3]));
    half2 b = fmin((half2)(in[1], in[5]), (half2)(in[2], in[4]));
    vstore2(a, 0, pairs);
    vstore2(b, 1, pairs);
}
