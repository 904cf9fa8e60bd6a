// compute-runtime 790: a shift of a vector in place changed its second component and all further ones.
// inout: uint 0x80000001 0x80000002 0x80000003 0x80000004 -> uint 2 4 6 8
// inout: uint 0x80000001 0x80000002 0x80000003 0x80000004 -> uint 0x20000000 0x20000000 0x20000000 0x20000001
kernel void test(global uint4 *left, global uint4 *right)
{
    uint4 a = left[0], b = right[0];
    a <<= 1;
    b >>= 2;
    left[0] = a;
    right[0] = b;
}
