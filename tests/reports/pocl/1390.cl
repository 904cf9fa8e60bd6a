// pocl 1390: minimum and maximum of each work-item's part, reduced through local memory, were wrong.
// range: 64 by 64
// in: float 100*1 -5 60*3 7.5 138*0
// value: uint 300
// out: float -5 7.5
kernel void test(global const float *restrict data, uint length, global float *restrict range)
{
    local float low[64], high[64];
    uint lane = get_local_id(0), lanes = get_local_size(0);
    float minimum = MAXFLOAT, maximum = -MAXFLOAT;
    for (uint index = lane; index < length; index += lanes) {
        minimum = min(minimum, data[index]);
        maximum = max(maximum, data[index]);
    }
    low[lane] = minimum;
    high[lane] = maximum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < lanes; step *= 2) {
        if (lane + step < lanes && lane % (2 * step) == 0) {
            low[lane] = min(low[lane], low[lane + step]);
            high[lane] = max(high[lane], high[lane + step]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0) {
        range[0] = low[0];
        range[1] = high[0];
    }
}
