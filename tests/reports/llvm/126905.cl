// llvm 126905: conversions to half that round a small negative number, and to float that do not round to nearest.
// needs: cl_khr_fp16
// in: float -2.9802326e-8 2.9802326e-8 65519 65520 -65520 1e-9
// out: half 0x8000 0x0001 0x7c00 0x7c00 0xfbff 0x0001
// out: half 0x8001 0x0000 0x7bff 0x7bff 0xfc00 0x0000
// out: half 0x8000 0x0000 0x7bff 0x7bff 0xfbff 0x0000
// out: half 0x8001 0x0001 0x7bff 0x7c00 0xfc00 0x0000
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const float *in, global half *up, global half *down, global half *zero, global half *even)
{
    for (int i = 0; i < 6; i++) {
        up[i] = convert_half_rtp(in[i]);
        down[i] = convert_half_rtn(in[i]);
        zero[i] = convert_half_rtz(in[i]);
        even[i] = convert_half_rte(in[i]);
    }
}
