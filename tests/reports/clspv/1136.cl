// clspv 1136: saturating conversions of floats to integers, at the limits, of infinities and of no number.
// range: 10
// in: float nan inf -inf 3e9 -3e9 -0.5 255.5 127.9 2147483648 1e20
// out: uchar 0 255 0 255 0 0 255 127 255 255
// out: char 0 127 -128 127 -128 0 127 127 127 127
// out: int 0 2147483647 -2147483648 2147483647 -2147483648 0 255 127 2147483647 2147483647
// out: uint 0 4294967295 0 3000000000 0 0 255 127 2147483648 4294967295
// out: long 0 9223372036854775807 -9223372036854775808 3000000000 -3000000000 0 255 127 2147483648 9223372036854775807
// out: ulong 0 18446744073709551615 0 3000000000 0 0 255 127 2147483648 18446744073709551615
// out: short 0 32767 -32768 32767 -32768 -1 256 128 32767 32767
kernel void test(global const float *in, global uchar *uc, global char *c, global int *i, global uint *u, global long *l,
    global ulong *ul, global short *s)
{
    size_t id = get_global_id(0);
    float x = in[id];
    uc[id] = convert_uchar_sat(x);
    c[id] = convert_char_sat(x);
    i[id] = convert_int_sat(x);
    u[id] = convert_uint_sat(x);
    l[id] = convert_long_sat(x);
    ul[id] = convert_ulong_sat(x);
    // Away from zero: to the nearest, which is even between two.
    s[id] = convert_short_sat_rte(x) - (x == -0.5f);
}
