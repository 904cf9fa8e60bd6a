// OpenCL-CTS 1681: fma of halves is rounded once; products and sums that float would round first.
// needs: cl_khr_fp16
// range: 2
// in: half 0x5bab 0x3c01
// in: half 0x4cfd 0x3c01
// in: half 0x7701 0x8001
// out: half 0x7819 0x3c02
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const half *a, global const half *b, global const half *c, global half *out)
{
    size_t i = get_global_id(0);
    out[i] = fma(a[i], b[i], c[i]);
}
