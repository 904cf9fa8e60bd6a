// OpenCL-CTS 1669: conversions of doubles to half in each direction, where rounding twice shows.
// needs: cl_khr_fp16 cl_khr_fp64
// range: 6
// in: double -3.0000000000000004 3.0000000000000004 1.00048828125 1.0004882812500002 -65519.999999999993 5.960464477539063e-8
// out: half 0x4201 0x4201
// out: half 0xc200 0x4201 0x3c01 0x3c01 0xfbff 0x0001
// out: half 0xc201 0x4200 0x3c00 0x3c00 0xfc00 0x0001
// out: half 0xc200 0x4200 0x3c00 0x3c00 0xfbff 0x0001
// out: half 0xc200 0x4200 0x3c00 0x3c01 0xfbff 0x0001
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const double *in, global half *vector, global half *up, global half *down, global half *zero, global half *even)
{
    size_t i = get_global_id(0);
    up[i] = convert_half_rtp(in[i]);
    down[i] = convert_half_rtn(in[i]);
    zero[i] = convert_half_rtz(in[i]);
    even[i] = convert_half_rte(in[i]);
    if (i == 0)
        vstore2(convert_half2_rtp((double2)(in[1], -in[0])), 0, vector);
}
