// clspv 1122: the compiler never ended with vectors of eight half floats.
// local: 16
// out: half 0x4000 0x4400 0x4600 0x4800 0x4900 0x4a00 0x4b00 0x4c00
// in: half 0x3c00 0x4000 0x4200 0x4400 0x4500 0x4600 0x4700 0x4800
kernel void test(local half *storage, global half *out, global const half *in)
{
    vstore_half8(2.0f * vload_half8(0, in), 0, storage);
    vstore_half8(vload_half8(0, storage), 0, out);
}
