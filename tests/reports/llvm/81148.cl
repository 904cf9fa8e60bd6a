// llvm 81148: vloadn from pointers to another type, in global and local memory.
// range: 4 by 4
// in: uchar 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
// out: ushort 0x0100 0x0302 0x0504 0x0706 0x0908 0x0b0a 0x0d0c 0x0f0e 0x1110 0x1312 0x1514 0x1716
// out: uint 0x05040302 0x09080706 0x0d0c0b0a 0x11100f0e
kernel void test(global const uchar *in, global ushort *shorts, global uint *ints)
{
    local uint words[6];
    size_t i = get_local_id(0);
    words[i] = ((global const uint *)in)[i];
    if (i < 2)
        words[4 + i] = ((global const uint *)in)[4 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore3(vload3(i, (local const ushort *)words), i, shorts);
    ushort2 pair = vload2(0, (local const ushort *)words + 1 + 2 * i);
    ints[i] = as_uint(pair);
}
