// pocl 204: frexp of zeros, infinities and denormal numbers.
// in: float 0 -0 inf 8 0.75 -3 1e-10 1
// out: float 0 -0 inf 0.5 0.75 -0.75
// out: int 0 0 4 0 2
// out: float 48
kernel void test(global const float *in, global float *fractions, global int *exponents, global float *back)
{
    int e;
    int4 four;
    fractions[0] = frexp(in[0], exponents);
    fractions[1] = frexp(in[1], &e);
    exponents[1] = e;
    float4 f = frexp((float4)(in[2], in[3], in[4], in[5]), &four);
    fractions[2] = f.x;
    fractions[3] = f.y;
    fractions[4] = f.z;
    fractions[5] = f.w;
    exponents[2] = four.y;
    exponents[3] = four.z;
    exponents[4] = four.w;
    back[0] = ldexp(f.w, four.y + 1) * -2.0f;
}
