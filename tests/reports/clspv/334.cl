// clspv 334: a float written through a pointer cast from bytes had each byte shifted by as many bits as its number.
// range: 4
// inout: uchar 17*9 -> uchar 9 0 0 0 0 0 0 0x80 0x3f 0 0 0 0x40 0 0 0x40 0x40
kernel void test(global uchar *soa)
{
    const uint index = get_global_id(0);
    const size_t offset = sizeof(float) / sizeof(uchar) * index;
    // At odd addresses: by bytes, as floats may not lie there.
    union {
        float f;
        uchar bytes[4];
    } value = { (float)index };
    for (int i = 0; i < 4; i++)
        soa[1 + offset + i] = value.bytes[i];
}
