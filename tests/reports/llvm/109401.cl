// llvm 109401: of two pointers to different types one is chosen, and seen as a third.
// range: 4
// in: int 0 1 0 1
// out: uint 0x40490fdb 0x04030201 0x40490fdb 0x04030201
uint seen(const private void *p)
{
    return *(const private uint *)p;
}

kernel void test(global const int *which, global uint *out)
{
    float pi[2] = { M_PI_F, 0.0f };
    uchar bytes[8] __attribute__((aligned(4))) = { 1, 2, 3, 4 };
    size_t i = get_global_id(0);
    private void *p;
    if (which[i])
        p = bytes;
    else
        p = pi;
    out[i] = seen(p);
}
