// OpenCL-CTS 1859: casts of integers and floats to double, and of doubles to all others.
// needs: cl_khr_fp64
// range: 6
// in: char -128 -1 0 127 127 127
// out: double -128 -1 0 127 127 127
// in: uchar 0 1 128 255 255 255
// out: double 0 1 128 255 255 255
// in: short -32768 -129 300 32767 32767 32767
// out: double -32768 -129 300 32767 32767 32767
// in: ushort 0 2049 32769 65520 65520 65520
// out: double 0 2049 32769 65520 65520 65520
// in: int -2147483648 -2147483647 16777217 33554435 65519 2147483647
// out: double -2147483648 -2147483647 16777217 33554435 65519 2147483647
// in: uint 0 16777219 65521 4294967295 4294967168 4294967168
// out: double 0 16777219 65521 4294967295 4294967168 4294967168
// in: long -9223372036854775808 -9007199254740993 4503599761588225 65520 9223372036854775807 -2049
// out: double -9.223372036854776e+18 -9007199254740992 4503599761588225 65520 9.223372036854776e+18 -2049
// in: ulong 18446744073709551615 9223372586610589697 9007199791611905 2049 2147483648 18446742974197923840
// out: double 1.8446744073709552e+19 9.22337258661059e+18 9007199791611904.0 2049 2147483648 1.8446742974197924e+19
// in: float 0.5 -0.5 1.75 -1.75 127.5 100.9990005493164
// out: double 0.5 -0.5 1.75 -1.75 127.5 100.9990005493164

kernel void test(global const char *char_in, global double *char_double, global const uchar *uchar_in,
    global double *uchar_double, global const short *short_in, global double *short_double,
    global const ushort *ushort_in, global double *ushort_double, global const int *int_in,
    global double *int_double, global const uint *uint_in, global double *uint_double, global const long *long_in,
    global double *long_double, global const ulong *ulong_in, global double *ulong_double,
    global const float *float_in, global double *float_double)
{
    size_t i = get_global_id(0);
    char_double[i] = (double)char_in[i];
    uchar_double[i] = (double)uchar_in[i];
    short_double[i] = (double)short_in[i];
    ushort_double[i] = (double)ushort_in[i];
    int_double[i] = (double)int_in[i];
    uint_double[i] = (double)uint_in[i];
    long_double[i] = (double)long_in[i];
    ulong_double[i] = (double)ulong_in[i];
    float_double[i] = (double)float_in[i];
}
