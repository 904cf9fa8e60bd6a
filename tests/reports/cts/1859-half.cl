// OpenCL-CTS 1859: casts of all types to half, rounded once.
// needs: cl_khr_fp16 cl_khr_fp64
// range: 6
// in: char -128 -1 0 127 127 127
// out: half 0xd800 0xbc00 0x0 0x57f0 0x57f0 0x57f0
// in: uchar 0 1 128 255 255 255
// out: half 0x0 0x3c00 0x5800 0x5bf8 0x5bf8 0x5bf8
// in: short -32768 -129 300 32767 32767 32767
// out: half 0xf800 0xd808 0x5cb0 0x7800 0x7800 0x7800
// in: ushort 0 2049 32769 65520 65520 65520
// out: half 0x0 0x6800 0x7800 0x7c00 0x7c00 0x7c00
// in: int -2147483648 -2147483647 16777217 33554435 65519 2147483647
// out: half 0xfc00 0xfc00 0x7c00 0x7c00 0x7bff 0x7c00
// in: uint 0 16777219 65521 4294967295 4294967168 4294967168
// out: half 0x0 0x7c00 0x7c00 0x7c00 0x7c00 0x7c00
// in: long -9223372036854775808 -9007199254740993 4503599761588225 65520 9223372036854775807 -2049
// out: half 0xfc00 0xfc00 0x7c00 0x7c00 0x7c00 0xe800
// in: ulong 18446744073709551615 9223372586610589697 9007199791611905 2049 2147483648 18446742974197923840
// out: half 0x7c00 0x7c00 0x7c00 0x6800 0x7c00 0x7c00
// in: float 0.5 -0.5 1.75 -1.75 127.5 100.9990005493164
// out: half 0x3800 0xb800 0x3f00 0xbf00 0x57f8 0x5650
// in: double 0.5 -0.5 1.9999999999999998 -1.75 127.5 1.0000000596046448
// out: half 0x3800 0xb800 0x4000 0xbf00 0x57f8 0x3c00

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const char *char_in, global half *char_half, global const uchar *uchar_in,
    global half *uchar_half, global const short *short_in, global half *short_half, global const ushort *ushort_in,
    global half *ushort_half, global const int *int_in, global half *int_half, global const uint *uint_in,
    global half *uint_half, global const long *long_in, global half *long_half, global const ulong *ulong_in,
    global half *ulong_half, global const float *float_in, global half *float_half, global const double *double_in,
    global half *double_half)
{
    size_t i = get_global_id(0);
    char_half[i] = (half)char_in[i];
    uchar_half[i] = (half)uchar_in[i];
    short_half[i] = (half)short_in[i];
    ushort_half[i] = (half)ushort_in[i];
    int_half[i] = (half)int_in[i];
    uint_half[i] = (half)uint_in[i];
    long_half[i] = (half)long_in[i];
    ulong_half[i] = (half)ulong_in[i];
    float_half[i] = (half)float_in[i];
    double_half[i] = (half)double_in[i];
}
