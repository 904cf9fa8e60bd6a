// clspv 1141: saturating conversions between integers of all widths and signs.
// range: 5
// in: long -9223372036854775808 -129 -1 256 4294967296
// out: char -128 -128 -1 127 127
// out: uchar 0 0 0 255 255
// out: short -32768 -129 -1 256 32767
// out: int -2147483648 -129 -1 256 2147483647
// out: uint 0 0 0 256 4294967295
// out: ulong 0 0 0 256 4294967296
// in: ulong 18446744073709551615 128 9223372036854775808 0 255
// out: long 9223372036854775807 128 9223372036854775807 0 255
// out: char 127 127 127 0 127
// out: int 2147483647 128 2147483647 0 255
kernel void test(global const long *in, global char *c, global uchar *uc, global short *s, global int *i, global uint *u, global ulong *ul,
    global const ulong *wide, global long *l, global char *c2, global int *i2)
{
    size_t id = get_global_id(0);
    long x = in[id];
    c[id] = convert_char_sat(x);
    uc[id] = convert_uchar_sat(x);
    s[id] = convert_short_sat(x);
    i[id] = convert_int_sat(x);
    u[id] = convert_uint_sat(x);
    ul[id] = convert_ulong_sat(x);
    l[id] = convert_long_sat(wide[id]);
    c2[id] = convert_char_sat(wide[id]);
    i2[id] = convert_int_sat(wide[id]);
}
