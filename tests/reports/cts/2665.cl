// OpenCL-CTS 2665: what the functions of double give at the edges that the specification lists.
// needs: cl_khr_fp64
// in: double 1 2 -0 0 -2 -0 inf -inf 1 0.5 -0.25 -0.75 -0.5 2.5 -0.25 -2.5 -0 -0 1.5 2.5 -0.5 inf -0 3 -3 -inf -0 2 -2 3 -3 2.5 3.5 -1.5 -0.5 inf -inf inf 0 -inf -inf -0 -1 -0 0 -1 0 -inf -0 -0 -inf -0 inf -inf -0 -0 -1 -2 1 -inf inf nan -0 nan -0
// out: double 0 nan -0 0 nan -0 0.5 -0.5 0 nan -0 -0 -0 2 -0 -3 -0 1 0 0 0 nan -0 0 -0 nan -0 0 -0 -0 0 inf -inf inf -inf nan 0 inf 1 0 -1 -0 -inf -0 -inf nan -inf inf -0 -0 -inf -inf 0 -1 -0 -inf nan inf 0 -1 0 nan -0 0 -0
// in: double -0 0 -0 0 -2 -2 2 -inf inf -inf 1 nan 2 0 -0 inf 3 -6 5 -0 0 1 0 -0 1 nan -1 -0 -0 -inf -8 3 -0 0 -0 1 -1 0 inf 1 2 nan inf nan 3 nan -3 -5 -3 -5 nan nan 2 5 -3 inf
// in: double -0 -0 0 -3 0 -inf inf 5 -inf inf nan 1 3 nan 5 5 0 3 inf 3 -3 nan -inf -inf nan 0 inf -3 3 -3 0.5 -0 -2 -inf 3 9 2 -0 0 -inf nan 0 nan -inf -4 -3 nan 3 3 3 3 -1 -0 3 3 3
// out: double -1 1 -0 1 -0.5 -1 0 -0.5 0.75 -0.25 nan nan 0 nan -0 nan nan -0 5 5e-324 -5e-324 nan inf inf 1 1 1 -inf -0 -0 nan 1 inf inf 0 1 nan nan nan nan nan nan inf inf 5 -3 -3 -5 3 3 3 nan -2 -1 -0 nan
// in: double nan -0 -0 -0 -0 0 -inf -0 -0 -0 -0 -4 5 -0 -inf 3 -3 1e20 3
// in: int 0 -3 -2 2 3 -1 -3 -3 -2 2 3 2 0 5 -3 4000 -4000 2147483207 -2147483648
// out: double 1 -inf inf 0 -0 inf -0 -inf inf 0 -0 nan nan -0 -inf inf -0 inf 0
#define ONE(f, count) \
    for (int end = i + count; i < end; i++) \
        r[i] = f(x[i]);
#define TWO(f, count) \
    for (int end = i + count; i < end; i++) \
        s[i] = f(y[i], z[i]);
#define WITH_INT(f, count) \
    for (int end = i + count; i < end; i++) \
        t[i] = f(v[i], n[i]);

kernel void test(global const double *x, global double *r, global const double *y, global const double *z, global double *s, global const double *v, global const int *n, global double *t)
{
    int i = 0;
    ONE(acospi, 2)
    ONE(asinpi, 3)
    ONE(atanpi, 3)
    ONE(acosh, 2)
    ONE(ceil, 1)
    ONE(trunc, 1)
    ONE(rint, 2)
    ONE(round, 2)
    ONE(floor, 1)
    ONE(cospi, 5)
    ONE(sinpi, 4)
    ONE(tanpi, 10)
    ONE(exp10, 3)
    ONE(exp2, 1)
    ONE(expm1, 2)
    ONE(log1p, 2)
    ONE(log2, 1)
    ONE(log10, 1)
    ONE(logb, 2)
    ONE(sqrt, 1)
    ONE(cbrt, 2)
    ONE(rsqrt, 2)
    ONE(tanh, 1)
    ONE(sinh, 1)
    ONE(tgamma, 2)
    ONE(lgamma, 2)
    ONE(erf, 1)
    ONE(erfc, 1)
    ONE(fabs, 1)
    ONE(sign, 2)
    ONE(radians, 1)
    i = 0;
    TWO(atan2pi, 10)
    TWO(fdim, 3)
    TWO(fmod, 6)
    TWO(nextafter, 3)
    TWO(pow, 9)
    TWO(powr, 11)
    TWO(hypot, 3)
    TWO(fmax, 1)
    TWO(fmin, 1)
    TWO(maxmag, 2)
    TWO(minmag, 2)
    TWO(copysign, 2)
    TWO(remainder, 3)
    i = 0;
    WITH_INT(pown, 7)
    WITH_INT(rootn, 6)
    WITH_INT(ldexp, 6)
}
