// Glow 2908: select takes the sign of each component of a vector, and any bit of a scalar.
// in: int 1 -1 0x40000000 0x80000000
// out: float 1 20 3 40
// out: float 20
// out: char 1 20 3 40
// out: int 1 0 1 0
kernel void test(global const int4 *in, global float4 *out, global float *scalar, global char4 *chars, global int *both)
{
    int4 c = *in;
    out[0] = select((float4)(1, 2, 3, 4), (float4)(10, 20, 30, 40), c);
    scalar[0] = select(2.0f, 20.0f, c.x);
    chars[0] = select((char4)(1, 2, 3, 4), (char4)(10, 20, 30, 40), as_char4((uchar4)(0x7f, 0x80, 1, 0xff)));
    both[0] = any(c);
    both[1] = all(c);
    both[2] = all(c.yw);
    both[3] = any(c.xz);
}
