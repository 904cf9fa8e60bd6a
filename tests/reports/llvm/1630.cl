// ROCm llvm 1630: remquo's quotient where the remainder is no number, and its sign and low bits elsewhere.
// range: 8
// in: float inf 3 nan 5 -7 7 100 -100
// in: float 3 0 2 nan 2 -2 7 7
// out: float nan nan nan nan 1 -1 2 -2
// out: int 0 0 0 0 -4 -4 14 -14
kernel void test(global const float *x, global const float *y, global float *r, global int *q)
{
    size_t i = get_global_id(0);
    int quo = 77;
    r[i] = remquo(x[i], y[i], &quo);
    q[i] = quo;
}
