// OpenCL-CTS 1859: casts of floating-point numbers to integers and truth values.
// needs: cl_khr_fp16 cl_khr_fp64
// range: 6
// in: float 0.5 -0.5 1.75 -1.75 127.5 100.9990005493164
// out: char 0 0 1 -1 127 100
// out: uchar 0 0 1 0 127 100
// out: short 0 0 1 -1 127 100
// out: ushort 0 0 1 0 127 100
// out: int 0 0 1 -1 127 100
// out: uint 0 0 1 0 127 100
// out: long 0 0 1 -1 127 100
// out: ulong 0 0 1 0 127 100
// out: int 1 1 1 1 1 1
// in: double 0.5 -0.5 1.9999999999999998 -1.75 127.5 1.0000000596046448
// out: char 0 0 1 -1 127 1
// out: uchar 0 0 1 0 127 1
// out: short 0 0 1 -1 127 1
// out: ushort 0 0 1 0 127 1
// out: int 0 0 1 -1 127 1
// out: uint 0 0 1 0 127 1
// out: long 0 0 1 -1 127 1
// out: ulong 0 0 1 0 127 1
// out: int 1 1 1 1 1 1
// out: float 0.5 -0.5 2 -1.75 127.5 1
// in: half 0x3800 0xb800 0x3f00 0xbf00 0x57f8 0x5648
// out: char 0 0 1 -1 127 100
// out: uchar 0 0 1 0 127 100
// out: short 0 0 1 -1 127 100
// out: ushort 0 0 1 0 127 100
// out: int 0 0 1 -1 127 100
// out: uint 0 0 1 0 127 100
// out: long 0 0 1 -1 127 100
// out: ulong 0 0 1 0 127 100
// out: int 1 1 1 1 1 1
// out: float 0.5 -0.5 1.75 -1.75 127.5 100.5

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const float *float_in, global char *float_char, global uchar *float_uchar,
    global short *float_short, global ushort *float_ushort, global int *float_int, global uint *float_uint,
    global long *float_long, global ulong *float_ulong, global int *float_bool, global const double *double_in,
    global char *double_char, global uchar *double_uchar, global short *double_short, global ushort *double_ushort,
    global int *double_int, global uint *double_uint, global long *double_long, global ulong *double_ulong,
    global int *double_bool, global float *double_float, global const half *half_in, global char *half_char,
    global uchar *half_uchar, global short *half_short, global ushort *half_ushort, global int *half_int,
    global uint *half_uint, global long *half_long, global ulong *half_ulong, global int *half_bool,
    global float *half_float)
{
    size_t i = get_global_id(0);
    float_char[i] = (char)float_in[i];
    float_uchar[i] = float_in[i] > -1 ? (uchar)float_in[i] : (uchar)0;
    float_short[i] = (short)float_in[i];
    float_ushort[i] = float_in[i] > -1 ? (ushort)float_in[i] : (ushort)0;
    float_int[i] = (int)float_in[i];
    float_uint[i] = float_in[i] > -1 ? (uint)float_in[i] : (uint)0;
    float_long[i] = (long)float_in[i];
    float_ulong[i] = float_in[i] > -1 ? (ulong)float_in[i] : (ulong)0;
    float_bool[i] = (bool)float_in[i];
    double_char[i] = (char)double_in[i];
    double_uchar[i] = double_in[i] > -1 ? (uchar)double_in[i] : (uchar)0;
    double_short[i] = (short)double_in[i];
    double_ushort[i] = double_in[i] > -1 ? (ushort)double_in[i] : (ushort)0;
    double_int[i] = (int)double_in[i];
    double_uint[i] = double_in[i] > -1 ? (uint)double_in[i] : (uint)0;
    double_long[i] = (long)double_in[i];
    double_ulong[i] = double_in[i] > -1 ? (ulong)double_in[i] : (ulong)0;
    double_bool[i] = (bool)double_in[i];
    double_float[i] = (float)double_in[i];
    half_char[i] = (char)half_in[i];
    half_uchar[i] = half_in[i] > -1 ? (uchar)half_in[i] : (uchar)0;
    half_short[i] = (short)half_in[i];
    half_ushort[i] = half_in[i] > -1 ? (ushort)half_in[i] : (ushort)0;
    half_int[i] = (int)half_in[i];
    half_uint[i] = half_in[i] > -1 ? (uint)half_in[i] : (uint)0;
    half_long[i] = (long)half_in[i];
    half_ulong[i] = half_in[i] > -1 ? (ulong)half_in[i] : (ulong)0;
    half_bool[i] = (bool)half_in[i];
    half_float[i] = (float)half_in[i];
}
