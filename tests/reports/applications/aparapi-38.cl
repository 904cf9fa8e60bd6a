// Aparapi 38: the product of a value made long and a number lost its upper half.
// range: 6
// in: int 1 21474836 21474837 -50000000 2147483647 -2147483648
// out: long 100 2147483600 2147483700 -5000000000 214748364700 -214748364800
// out: ulong 0xfffffffb 0x147ae13f999999c 0x147ae14f9999997 0xfd050f7b0ee6b280 0x7ffffffc80000005 0x7ffffffd80000000
kernel void test(global const int *in, global long *out, global ulong *wide)
{
    int i = get_global_id(0);
    out[i] = (long)in[i] * 100;
    wide[i] = (ulong)(uint)in[i] * 0xfffffffbu;
}
