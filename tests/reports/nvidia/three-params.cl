// NVIDIA on two different GPUs: a kernel with three arguments in constant or local memory was not to be created.
// range: 4 by 4
// in: float 1 2 3 4
// in: float 10 20 30 40
// in: int 3 2 1 0
// local: 16
// local: 16
// local: 16
// out: float 41 32 23 14
kernel void test(constant float *a, constant float *b, constant int *order, local float *x, local float *y, local int *z,
                 global float *out)
{
    int i = get_local_id(0);
    x[i] = a[i];
    y[i] = b[i];
    z[i] = order[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = x[i] + y[z[i]];
}
