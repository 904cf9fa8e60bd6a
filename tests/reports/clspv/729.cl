// clspv 729: bytes seen as float4 by a cast of the pointer.
// range: 2
// inout: float 1 2 3 4 5 6 7 8 -> float 1 2 3 0 5 6 7 1
kernel void test(global uchar *bytes)
{
    size_t i = get_global_id(0);
    global float4 *vectors = (global float4 *)(bytes + 16 * i);
    vectors->w = i;
}
