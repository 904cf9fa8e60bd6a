// pocl 189: the sum of fewer elements than the work-group has work-items left some out.
// range: 8 by 8
// in: int 5 3 3 8 1 6
// out: int 26
// value: int 6
kernel void __attribute__((reqd_work_group_size(8, 1, 1))) test(global const int *in, global int *out, int n)
{
    local int data[8];
    int lane = get_local_id(0), sum = 0, i = get_group_id(0) * 8 + lane;
    while (i < n) {
        sum = sum + in[i];
        i += 8;
    }
    data[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 4) {
        data[lane] = data[lane] + data[lane + 4];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 2) {
        local volatile int *last = data;
        last[lane] = last[lane] + last[lane + 2];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        *out = data[0] + data[1];
}
