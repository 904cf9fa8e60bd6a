// pocl 893: an accumulator that is set, used and stored under one and the same condition, with barriers between.
// range: 4x4 by 2x2
// out: float 3*630 0 3*630 9*0
// value: int 2
// value: int 3
kernel void test(global float *restrict out, int height, int width)
{
    int x = get_local_id(0), y = get_local_id(1), group_x = get_group_id(0), group_y = get_group_id(1);
    float sum;
    out[4 * (2 * group_y + y) + 2 * group_x + x] = 0.0f;
    if (-1 + -1 * y + -2 * group_y + height >= 0 && -1 + -1 * x + -2 * group_x + width >= 0)
        sum = 0.0f;
    for (int color = 0; color <= 2; ++color) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (-1 + -1 * y + -2 * group_y + height >= 0 && -1 + -1 * x + -2 * group_x + width >= 0)
            for (int i = -3; i <= 3; ++i)
                sum = sum + 10 * 3;
    }
    if (-1 + -1 * y + -2 * group_y + height >= 0 && -1 + -1 * x + -2 * group_x + width >= 0)
        out[4 * (2 * group_y + y) + 2 * group_x + x] = sum;
}
