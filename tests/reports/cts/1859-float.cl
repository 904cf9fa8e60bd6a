// OpenCL-CTS 1859: casts of integers to float, rounded once, and of floats to integers.
// range: 6
// in: char -128 -1 0 127 127 127
// out: float -128 -1 0 127 127 127
// in: uchar 0 1 128 255 255 255
// out: float 0 1 128 255 255 255
// in: short -32768 -129 300 32767 32767 32767
// out: float -32768 -129 300 32767 32767 32767
// in: ushort 0 2049 32769 65520 65520 65520
// out: float 0 2049 32769 65520 65520 65520
// in: int -2147483648 -2147483647 16777217 33554435 65519 2147483647
// out: float -2147483648 -2147483648 16777216 33554436 65519 2147483648
// in: uint 0 16777219 65521 4294967295 4294967168 4294967168
// out: float 0 16777220 65521 4294967296 4294967296 4294967296
// in: long -9223372036854775808 -9007199254740993 4503599761588225 65520 9223372036854775807 -2049
// out: float -9.223372036854776e+18 -9007199254740992 4503599627370496 65520 9.223372036854776e+18 -2049
// in: ulong 18446744073709551615 9223372586610589697 9007199791611905 2049 2147483648 18446742974197923840
// out: float 1.8446744073709552e+19 9.223373136366404e+18 9007200328482816 2049 2147483648 1.8446742974197924e+19
// in: float 0.5 -0.5 1.75 -1.75 127.5 100.9990005493164

kernel void test(global const char *char_in, global float *char_float, global const uchar *uchar_in,
    global float *uchar_float, global const short *short_in, global float *short_float,
    global const ushort *ushort_in, global float *ushort_float, global const int *int_in, global float *int_float,
    global const uint *uint_in, global float *uint_float, global const long *long_in, global float *long_float,
    global const ulong *ulong_in, global float *ulong_float, global const float *float_in)
{
    size_t i = get_global_id(0);
    char_float[i] = (float)char_in[i];
    uchar_float[i] = (float)uchar_in[i];
    short_float[i] = (float)short_in[i];
    ushort_float[i] = (float)ushort_in[i];
    int_float[i] = (float)int_in[i];
    uint_float[i] = (float)uint_in[i];
    long_float[i] = (float)long_in[i];
    ulong_float[i] = (float)ulong_in[i];
}
