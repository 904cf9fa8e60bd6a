// clspv 1079: half floats through local memory, in vectors of two, three and four.
// local: 8
// inout: half 0x3c00 0x4000 0x4200 0x4400 -> half 0x4c00 0x4c00 0x4600 0x4400
// options: -cl-std=CL3.0
kernel void test(local half *storage, global half *inout)
{
    vstore_half(2 * vload_half(0, inout), 0, storage);
    vstore_half(vload_half(0, storage), 0, inout);
    vstore_half2(2 * vload_half2(0, inout), 0, storage);
    vstore_half2(vload_half2(0, storage), 0, inout);
    vstore_half3(2 * vload_half3(0, inout), 0, storage);
    vstore_half3(vload_half3(0, storage), 0, inout);
    vstore_half4(vload_half4(0, inout) * (float4)(2, 2, 1, 1), 0, storage);
    vstore_half4(vload_half4(0, storage), 0, inout);
}
