// clspv 679: a buffer of float3, which lie four floats apart, read by vload3, which takes three.
// range: 3
// in: float 1 2 3 4 5 6 7 8 9 10 11 12
// out: float 6 15 24
// out: float 6 18 30
kernel void test(global const float3 *in, global float *packed, global float *padded)
{
    uint i = get_global_id(0);
    float3 x = vload3(i, (global const float *)in);
    packed[i] = x[0] + x[1] + x[2];
    float3 y = in[i];
    padded[i] = y.x + y.y + y.z;
}
