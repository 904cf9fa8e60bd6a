// VC4C 30: a sum that one work-item made in local memory was lost.
// range: 10 by 5
// in: float 0 1 2 3 4 5 6 7 8 9
// in: float 10*0.5
// out: float 0.5 0.5 1 1.5 2 5.5 3 3.5 4 4.5
// local: 20
kernel void test(global const float *a, global const float *b, global float *out, local float *products)
{
    size_t id = get_global_id(0), lane = get_local_id(0);
    products[lane] = a[id] * b[id];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        products[lane] = products[lane] + products[lane + 1];
    out[id] = products[lane];
}
