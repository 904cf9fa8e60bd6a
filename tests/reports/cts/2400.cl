// OpenCL-CTS 2400: ldexp with an exponent near the largest int gave zero in the reference, ilogb and logb at their edges.
// range: 5
// in: float 1468654 -1468654 0 inf nan
// in: int 2147483207 2147483647 2147483647 -2147483648 3
// out: float inf -inf 0 inf nan
// out: int 20 20 -2147483648 2147483647 2147483647
// out: float 20 20 -inf inf nan
kernel void test(global const float *x, global const int *n, global float *scaled, global int *exponents, global float *logs)
{
    size_t i = get_global_id(0);
    scaled[i] = ldexp(x[i], n[i]);
    exponents[i] = ilogb(x[i]);
    logs[i] = logb(x[i]);
}
