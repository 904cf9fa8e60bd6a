// pocl 193: a vector made of the components of another one, which a function returned, crashed the compiler.
// in: float 3 5
// out: float 5 3 8 -2 3 0
float2 same(float2 a)
{
    return a;
}

float2 product(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

kernel void test(global const float2 *in, global float2 *out)
{
    volatile float2 a = *in;
    volatile float2 r = same(a);
    out[0] = (float2)(r.y, r.x);
    float2 s = same((float2)(r.x + r.y, r.x - r.y));
    out[1] = (float2)(s.x, s.y);
    out[2] = product((float2)(r.x, 0.0f), (float2)(1.0f, 0.0f));
}
