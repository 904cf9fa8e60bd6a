// clspv 984: popcount by hand, which the compiler made its own bit count of.
// range: 6
// in: uint 0 1 0x80000000 0xffffffff 0xf0f0f0f0 0x12345678
// out: int 0 1 1 32 16 13
// out: int 0 1 1 32 16 13
// out: int 0 1 1 32 16 13
kernel void test(global const uint *in, global int *loop, global int *folded, global int *builtin)
{
    size_t i = get_global_id(0);
    int count = 0;
    for (uint v = in[i]; v; v &= v - 1)
        count++;
    loop[i] = count;
    uint v = in[i];
    v = v - ((v >> 1) & 0x55555555);
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333);
    folded[i] = (((v + (v >> 4)) & 0xF0F0F0F) * 0x1010101) >> 24;
    builtin[i] = popcount(in[i]);
}
