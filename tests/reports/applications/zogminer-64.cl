// zogminer 64: all bits of a word of 64 bits inverted by an int of -1.
// inout: ulong 0 0x123456789abcdef0 0xffffffff 5 -> ulong 0xffffffffffffffff 0xedcba9876543210f 0xffffffff00000000 0xfffffffffffffff2
// in: int 8
kernel void test(global ulong *v, global const int *length)
{
    v[0] ^= -1;
    v[1] ^= (ulong)-1;
    v[2] ^= ~0;
    v[3] ^= *length ^ -1;
}
