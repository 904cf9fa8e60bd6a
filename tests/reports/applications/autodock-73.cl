// AutoDock-GPU 73: native_powr was far away from the power.
// range: 4
// in: float 2 1.5 10 4
// in: float 3 2 -2 0.5
// out: float near 1e-3 8 2.25 0.01 2
// out: float near 2e-6 8 2.25 0.01 2
kernel void test(global const float *x, global const float *y, global float *fast, global float *exact)
{
    int i = get_global_id(0);
    fast[i] = native_powr(x[i], y[i]);
    exact[i] = powr(x[i], y[i]);
}
