// pocl 2235: where some work-items may return early, all had to pass a barrier in the condition.
// range: 8 by 8
// out: int 0
// in: int 0 0 -1 0 0 0 0 0
// value: uint 2
// value: uint 2
kernel void test(global int *out, global const int *in, uint active, uint length)
{
    local int found;
    size_t i = get_local_id(0);
    if (i == 0)
        found = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < active) {
        if (i >= length)
            return;
        if (in[i] < 0)
            found = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        out[0] = found;
}
