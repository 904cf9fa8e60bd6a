// clspv 310: signed bytes became positive integers.
// in: char 112 -109 -19 100
// out: int 112 -109 -19 100
// out: float 112 -109 -19 100
// out: uint 112 0 0 100
kernel void test(global const char4 *in, global int4 *ints, global float4 *floats, global uint4 *saturated)
{
    *ints = convert_int4(*in);
    *floats = convert_float4(*in);
    *saturated = convert_uint4_sat(*in);
}
