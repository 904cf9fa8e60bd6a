// clspv 1046: conversions of three-component vectors, the last of which has one or two components in memory.
// range: 3
// in: ushort 1 255 256 4660 65535 7 8
// out: uchar 1 255 0 0x34 255 7 8 0xa5
// inout: uchar 8*9 -> uchar 1 255 255 255 255 7 8 9
kernel void test(global const ushort *src, global uchar *out, global uchar *saturated)
{
    size_t i = get_global_id(0);
    if (i + 1 < get_global_size(0)) {
        vstore3(convert_uchar3(vload3(i, src)), i, out);
        vstore3(convert_uchar3_sat(vload3(i, src)), i, saturated);
    } else {
        ushort3 in;
        uchar3 bytes;
        if (i & 1)
            in.y = src[3 * i + 1];
        in.x = src[3 * i];
        bytes = convert_uchar3(in);
        out[3 * i] = bytes.x;
        if (i & 1)
            out[3 * i + 1] = bytes.y;
        saturated[3 * i] = convert_uchar3_sat(in).x;
    }
}
