// pocl 2211 and libgpuarray 570: floats became halves by cutting, and not by rounding to the nearest even one.
// range: 8
// in: float 1.00048828125 1.00146484375 1.0004885 65519 65520 -0.0000000298023224 0.0000000298023224 0.00006103515625
// out: half 0x3c00 0x3c02 0x3c01 0x7bff 0x7c00 0x8000 0 0x0400
// out: half 0x3c00 0x3c01 0x3c00 0x7bff 0x7bff 0x8000 0 0x0400
// out: half 0x3c01 0x3c02 0x3c01 0x7c00 0x7c00 0x8000 0x0001 0x0400
kernel void test(global const float *in, global half *nearest, global half *to_zero, global half *up)
{
    int i = get_global_id(0);
    vstore_half(in[i], i, nearest);
    vstore_half_rtz(in[i], i, to_zero);
    vstore_half_rtp(in[i], i, up);
}
