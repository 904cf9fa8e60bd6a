// OpenCL-CTS 1859: casts between integers, and to truth values.
// range: 6
// in: char -128 -1 0 127 127 127
// out: uchar 128 255 0 127 127 127
// out: short -128 -1 0 127 127 127
// out: ushort 65408 65535 0 127 127 127
// out: int -128 -1 0 127 127 127
// out: uint 4294967168 4294967295 0 127 127 127
// out: long -128 -1 0 127 127 127
// out: ulong 18446744073709551488 18446744073709551615 0 127 127 127
// out: int 1 1 0 1 1 1
// in: uchar 0 1 128 255 255 255
// out: char 0 1 -128 -1 -1 -1
// out: short 0 1 128 255 255 255
// out: ushort 0 1 128 255 255 255
// out: int 0 1 128 255 255 255
// out: uint 0 1 128 255 255 255
// out: long 0 1 128 255 255 255
// out: ulong 0 1 128 255 255 255
// out: int 0 1 1 1 1 1
// in: short -32768 -129 300 32767 32767 32767
// out: char 0 127 44 -1 -1 -1
// out: uchar 0 127 44 255 255 255
// out: ushort 32768 65407 300 32767 32767 32767
// out: int -32768 -129 300 32767 32767 32767
// out: uint 4294934528 4294967167 300 32767 32767 32767
// out: long -32768 -129 300 32767 32767 32767
// out: ulong 18446744073709518848 18446744073709551487 300 32767 32767 32767
// out: int 1 1 1 1 1 1
// in: ushort 0 2049 32769 65520 65520 65520
// out: char 0 1 1 -16 -16 -16
// out: uchar 0 1 1 240 240 240
// out: short 0 2049 -32767 -16 -16 -16
// out: int 0 2049 32769 65520 65520 65520
// out: uint 0 2049 32769 65520 65520 65520
// out: long 0 2049 32769 65520 65520 65520
// out: ulong 0 2049 32769 65520 65520 65520
// out: int 0 1 1 1 1 1
// in: int -2147483648 -2147483647 16777217 33554435 65519 2147483647
// out: char 0 1 1 3 -17 -1
// out: uchar 0 1 1 3 239 255
// out: short 0 1 1 3 -17 -1
// out: ushort 0 1 1 3 65519 65535
// out: uint 2147483648 2147483649 16777217 33554435 65519 2147483647
// out: long -2147483648 -2147483647 16777217 33554435 65519 2147483647
// out: ulong 18446744071562067968 18446744071562067969 16777217 33554435 65519 2147483647
// out: int 1 1 1 1 1 1
// in: uint 0 16777219 65521 4294967295 4294967168 4294967168
// out: char 0 3 -15 -1 -128 -128
// out: uchar 0 3 241 255 128 128
// out: short 0 3 -15 -1 -128 -128
// out: ushort 0 3 65521 65535 65408 65408
// out: int 0 16777219 65521 -1 -128 -128
// out: long 0 16777219 65521 4294967295 4294967168 4294967168
// out: ulong 0 16777219 65521 4294967295 4294967168 4294967168
// out: int 0 1 1 1 1 1
// in: long -9223372036854775808 -9007199254740993 4503599761588225 65520 9223372036854775807 -2049
// out: char 0 -1 1 -16 -1 -1
// out: uchar 0 255 1 240 255 255
// out: short 0 -1 1 -16 -1 -2049
// out: ushort 0 65535 1 65520 65535 63487
// out: int 0 -1 134217729 65520 -1 -2049
// out: uint 0 4294967295 134217729 65520 4294967295 4294965247
// out: ulong 9223372036854775808 18437736874454810623 4503599761588225 65520 9223372036854775807 18446744073709549567
// out: int 1 1 1 1 1 1
// in: ulong 18446744073709551615 9223372586610589697 9007199791611905 2049 2147483648 18446742974197923840
// out: char -1 1 1 1 0 0
// out: uchar 255 1 1 1 0 0
// out: short -1 1 1 2049 0 0
// out: ushort 65535 1 1 2049 0 0
// out: int -1 1 536870913 2049 -2147483648 0
// out: uint 4294967295 1 536870913 2049 2147483648 0
// out: long -1 -9223371487098961919 9007199791611905 2049 2147483648 -1099511627776
// out: int 1 1 1 1 1 1

kernel void test(global const char *char_in, global uchar *char_uchar, global short *char_short,
    global ushort *char_ushort, global int *char_int, global uint *char_uint, global long *char_long,
    global ulong *char_ulong, global int *char_bool, global const uchar *uchar_in, global char *uchar_char,
    global short *uchar_short, global ushort *uchar_ushort, global int *uchar_int, global uint *uchar_uint,
    global long *uchar_long, global ulong *uchar_ulong, global int *uchar_bool, global const short *short_in,
    global char *short_char, global uchar *short_uchar, global ushort *short_ushort, global int *short_int,
    global uint *short_uint, global long *short_long, global ulong *short_ulong, global int *short_bool,
    global const ushort *ushort_in, global char *ushort_char, global uchar *ushort_uchar, global short *ushort_short,
    global int *ushort_int, global uint *ushort_uint, global long *ushort_long, global ulong *ushort_ulong,
    global int *ushort_bool, global const int *int_in, global char *int_char, global uchar *int_uchar,
    global short *int_short, global ushort *int_ushort, global uint *int_uint, global long *int_long,
    global ulong *int_ulong, global int *int_bool, global const uint *uint_in, global char *uint_char,
    global uchar *uint_uchar, global short *uint_short, global ushort *uint_ushort, global int *uint_int,
    global long *uint_long, global ulong *uint_ulong, global int *uint_bool, global const long *long_in,
    global char *long_char, global uchar *long_uchar, global short *long_short, global ushort *long_ushort,
    global int *long_int, global uint *long_uint, global ulong *long_ulong, global int *long_bool,
    global const ulong *ulong_in, global char *ulong_char, global uchar *ulong_uchar, global short *ulong_short,
    global ushort *ulong_ushort, global int *ulong_int, global uint *ulong_uint, global long *ulong_long,
    global int *ulong_bool)
{
    size_t i = get_global_id(0);
    char_uchar[i] = (uchar)char_in[i];
    char_short[i] = (short)char_in[i];
    char_ushort[i] = (ushort)char_in[i];
    char_int[i] = (int)char_in[i];
    char_uint[i] = (uint)char_in[i];
    char_long[i] = (long)char_in[i];
    char_ulong[i] = (ulong)char_in[i];
    char_bool[i] = (bool)char_in[i];
    uchar_char[i] = (char)uchar_in[i];
    uchar_short[i] = (short)uchar_in[i];
    uchar_ushort[i] = (ushort)uchar_in[i];
    uchar_int[i] = (int)uchar_in[i];
    uchar_uint[i] = (uint)uchar_in[i];
    uchar_long[i] = (long)uchar_in[i];
    uchar_ulong[i] = (ulong)uchar_in[i];
    uchar_bool[i] = (bool)uchar_in[i];
    short_char[i] = (char)short_in[i];
    short_uchar[i] = (uchar)short_in[i];
    short_ushort[i] = (ushort)short_in[i];
    short_int[i] = (int)short_in[i];
    short_uint[i] = (uint)short_in[i];
    short_long[i] = (long)short_in[i];
    short_ulong[i] = (ulong)short_in[i];
    short_bool[i] = (bool)short_in[i];
    ushort_char[i] = (char)ushort_in[i];
    ushort_uchar[i] = (uchar)ushort_in[i];
    ushort_short[i] = (short)ushort_in[i];
    ushort_int[i] = (int)ushort_in[i];
    ushort_uint[i] = (uint)ushort_in[i];
    ushort_long[i] = (long)ushort_in[i];
    ushort_ulong[i] = (ulong)ushort_in[i];
    ushort_bool[i] = (bool)ushort_in[i];
    int_char[i] = (char)int_in[i];
    int_uchar[i] = (uchar)int_in[i];
    int_short[i] = (short)int_in[i];
    int_ushort[i] = (ushort)int_in[i];
    int_uint[i] = (uint)int_in[i];
    int_long[i] = (long)int_in[i];
    int_ulong[i] = (ulong)int_in[i];
    int_bool[i] = (bool)int_in[i];
    uint_char[i] = (char)uint_in[i];
    uint_uchar[i] = (uchar)uint_in[i];
    uint_short[i] = (short)uint_in[i];
    uint_ushort[i] = (ushort)uint_in[i];
    uint_int[i] = (int)uint_in[i];
    uint_long[i] = (long)uint_in[i];
    uint_ulong[i] = (ulong)uint_in[i];
    uint_bool[i] = (bool)uint_in[i];
    long_char[i] = (char)long_in[i];
    long_uchar[i] = (uchar)long_in[i];
    long_short[i] = (short)long_in[i];
    long_ushort[i] = (ushort)long_in[i];
    long_int[i] = (int)long_in[i];
    long_uint[i] = (uint)long_in[i];
    long_ulong[i] = (ulong)long_in[i];
    long_bool[i] = (bool)long_in[i];
    ulong_char[i] = (char)ulong_in[i];
    ulong_uchar[i] = (uchar)ulong_in[i];
    ulong_short[i] = (short)ulong_in[i];
    ulong_ushort[i] = (ushort)ulong_in[i];
    ulong_int[i] = (int)ulong_in[i];
    ulong_uint[i] = (uint)ulong_in[i];
    ulong_long[i] = (long)ulong_in[i];
    ulong_bool[i] = (bool)ulong_in[i];
}
