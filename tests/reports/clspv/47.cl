// clspv 47: equality of vectors, by components, as a vector of integers of the same width.
// in: short 1 2 3 4 1 -2 3 -4
// out: short -1 0 -1 0
// out: int 0 0
// in: double 1 nan
// out: long -1 0
// out: int 1 0 1
// needs: cl_khr_fp64
kernel void test(global const short4 *in, global short4 *out, global int *whole, global const double2 *d, global long2 *wide, global int *scalars)
{
    *out = in[0] == in[1];
    whole[0] = all(in[0] == in[1]);
    whole[1] = !any(in[0] == in[1]);
    *wide = d[0] == d[0];
    scalars[0] = in[0].x == in[1].x;
    scalars[1] = d[0].y == d[0].y;
    scalars[2] = d[0].y != d[0].y;
}
