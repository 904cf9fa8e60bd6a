// pocl 101: a vector condition that chooses between two scalars did not build.
// in: float 0 1 2 3
// out: float 0.5 0.5 1 1 0.5 0.5 1 1
// out: int 10 10 -20 -20
kernel void test(global const float4 *in, global float4 *out, global int4 *integers)
{
    float4 x = *in;
    out[0] = x > 1.0f ? (float4)1.0f : (float4)0.5f;
    x = x > 1.0f ? 1.0f : 0.5f;
    out[1] = x;
    integers[0] = *in > 1.0f ? -20 : 10;
}
