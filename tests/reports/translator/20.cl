// SPIRV-LLVM 20: as_short of char2 became a conversion, and isequal of int8 a function that does not exist.
// range: 2
// in: char 1 2 -1 127
// out: short 0x0201 0x7fff
// in: float 1 2 3 4 5 6 7 8 8 7 6 5 4 3 2 nan
// out: int 0 0 -1 -1 0 0 0 0 -1 -1 0 0 0 -1 -1 0
// in: float 9 9 3 4 9 9 9 9 8 7 9 9 9 3 2 nan
kernel void test(global const char2 *in, global short *out, global const float8 *a, global int8 *equal, global const float8 *b)
{
    size_t i = get_global_id(0);
    out[i] = as_short(in[i]);
    equal[i] = isequal(a[i], b[i]);
}
