// SPIRV-LLVM-Translator 441: clang's own bit counting functions in a kernel.
// range: 4
// in: ulong 1 0x8000000000000000 0xff00 0xffffffffffffffff
// out: int 1 1 8 64
// out: int 63 0 48 0
// out: int 0 63 8 0
// out: int 1 0 0 0
kernel void test(global const ulong *in, global int *ones, global int *leading, global int *trailing, global int *odd)
{
    size_t i = get_global_id(0);
    ones[i] = __builtin_popcountl(in[i]);
    leading[i] = __builtin_clzl(in[i]);
    trailing[i] = __builtin_ctzl(in[i]);
    odd[i] = __builtin_parity((uint)in[i] & 0xff);
}
