// xmr-stak 2113: numbers with the suffix ULL, and decimal ones too large for an int.
// out: ulong 0xffffffffffffffff 0x8000000080008000 4294967296 0xf000000000000000
// out: long 9223372036854775807 -9223372036854775808 2147483648
// out: uint 8 8
kernel void test(global ulong *out, global long *longs, global uint *sizes)
{
    out[0] = 0xFFFFFFFFFFFFFFFFULL;
    out[1] = 0x8000000080008000ull;
    out[2] = 1ULL << 32;
    out[3] = 0xF000000000000000;
    longs[0] = 9223372036854775807;
    longs[1] = -9223372036854775807 - 1;
    longs[2] = 2147483648;
    sizes[0] = sizeof(4294967296);
    sizes[1] = sizeof(1UL);
}
