// llvm 73695: a loop over vectors by the size of the range had wrong code.
// range: 4 by 2
// value: float 2
// in: float 1 2 3 4 5 6 7 8 9 10
// in: float 10 20 30 40 50 60 70 80 90 100
// out: float 12 24 36 48 60 72 84 96 108 120
// value: int 10
kernel void test(float alpha, global const float *x, global const float *y, global float *z, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        z[i] = alpha * x[i] + y[i];
}
