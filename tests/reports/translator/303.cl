// SPIRV-LLVM-Translator 303: the loop that counts leading zeros, which the compiler made an intrinsic of.
// range: 6
// in: uint 0 1 2 0x00ffffff 0x7fffffff 0xffffffff
// out: int 32 31 30 8 1 0
// out: int 32 0 1 0 0 0
kernel void test(global const uint *in, global int *leading, global int *trailing)
{
    size_t i = get_global_id(0);
    int zeros = 32;
    for (uint v = in[i]; v; v >>= 1)
        zeros--;
    leading[i] = zeros;
    int low = 0;
    for (uint v = in[i]; low < 32 && !(v & 1); v >>= 1)
        low++;
    trailing[i] = low;
}
