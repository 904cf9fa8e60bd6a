// OpenCV 2318: a scalar assigned to a vector filled only its first component.
// in: int 7
// out: float 4*7 4*1.5 3 3 3 9
// out: uchar 3 3 3 3 10 10 10 10 3 255 3 255
// out: int 8*7
kernel void test(global const int *in, global float4 *floats, global uchar4 *bytes, global int8 *ints)
{
    float4 a, b;
    a = *in;
    b = 1.5f;
    floats[0] = a;
    floats[1] = b;
    float4 c = 3;
    c.w = 9.0f;
    floats[2] = c;
    uchar4 u = 3, v;
    v = u + (uchar)7;
    bytes[0] = u;
    bytes[1] = v;
    u.yw = 255;
    bytes[2] = u;
    int8 i;
    i = in[0];
    ints[0] = i;
}
