// OpenCL-CTS 1392: masks of shuffle that are known at run time only, with bits that do not count.
// in: uint 10 20 30 40
// in: uchar 0 4 69 255
// in: uchar 7 8 0x13 2
// in: ushort 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// out: uint 10 10 20 40
// out: uint 40 10 40 30 10 20 30 20
// out: ushort 0 4 5 15 7 8 3 2 0 4 5 15 7 8 3 2
// out: uint 10 10 10 20
kernel void test(global const uint4 *in, global const uchar4 *mask, global const uchar4 *other, global const ushort16 *wide,
    global uint4 *one, global uint *two, global ushort *many, global uint4 *pair)
{
    *one = shuffle(*in, convert_uint4(*mask));
    uint8 m = (uint8)(convert_uint4(*other), convert_uint4(*mask) & 2);
    m.s5 = 5;
    m.s6 = 6;
    m.s7 = 1;
    vstore8(shuffle2((uint4)*in, (uint4)(in->xy, in->zw), m), 0, two);
    ushort8 low = convert_ushort8((uchar8)(*mask, *other));
    vstore16(shuffle(*wide, (ushort16)(low, low)), 0, many);
    *pair = shuffle((uint2)(10, 20), (uint4)(0, 4, 2, 9));
}
