// pocl 1167: a barrier inside a loop with work-items that compute nothing in some iterations.
// range: 8 by 8
// out: int 8*36
kernel void test(global int *out)
{
    local int scratch[8];
    int id = get_local_id(0), size = get_local_size(0);
    scratch[id] = id + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = size / 2; step > 0; step /= 2) {
        if (id < step)
            scratch[id] += scratch[id + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[id] = scratch[0];
}
