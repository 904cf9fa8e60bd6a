// pocl 2227: a relation of scalars was -1, which only one of vectors is.
// in: float nan inf 1e-40 1
// out: int 1 1 1 1 1 1 1 1 1 0
// out: int -1 0 0 0 0 -1 0 0 -1 -1 0 0 0 0 0 -1
// out: int 1 -1 1 -1
kernel void test(global const float *in, global int *scalars, global int4 *vectors, global int *logic)
{
    float n = in[0], i = in[1], d = in[2], one = in[3];
    scalars[0] = isnan(n);
    scalars[1] = isinf(i);
    scalars[2] = isfinite(one);
    scalars[3] = isnormal(one);
    scalars[4] = signbit(-one);
    scalars[5] = isunordered(n, one);
    scalars[6] = isordered(i, one);
    scalars[7] = isgreater(i, one);
    scalars[8] = islessgreater(i, one);
    scalars[9] = isnormal(i);
    float4 all_four = (float4)(n, i, 0.0f, one);
    vectors[0] = isnan(all_four);
    vectors[1] = isinf(all_four);
    vectors[2] = signbit((float4)(-one, -0.0f, 0.0f, one));
    vectors[3] = all_four == 1.0f;
    logic[0] = one == 1.0f;
    logic[1] = ((float2)(one, d) == (float2)(1.0f, 1.0f)).x;
    logic[2] = !(n == n);
    logic[3] = (!(float2)(0.0f, one)).x;
}
