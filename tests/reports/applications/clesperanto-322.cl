// pyclesperanto 322: a conversion of a sum with a number without a suffix was ambiguous.
// range: 4
// in: float 0 12.7 25.5 300
// out: uint 0 13 26 255
// out: ulong 0xffffffffffffffff 0x7fffffffffffffff
uint clamped(float x)
{
    return convert_uint_sat(x + 0.5);
}

ulong all_bits(void)
{
    return 18446744073709551615;
}

kernel void test(global const float *in, global uint *out, global ulong *limits)
{
    int i = get_global_id(0);
    float minimum = 0, range = 255;
    uint x = convert_uint_sat(((in[i] - minimum) * (float)(256 - 1)) / range + 0.5);
    out[i] = x > 255 ? 255 : x == clamped(in[i]) ? x : 999;
    limits[0] = all_bits();
    limits[1] = 9223372036854775807;
}
