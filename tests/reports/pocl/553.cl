// pocl 553: of two nested loops with conditional barriers, a part ran three times for each iteration.
// range: 4 by 4
// value: int 2
// value: int 1
// out: int 4*4
kernel void test(int first, int second, global int *out)
{
    int times = 0;
    for (int outer = 0; outer < 2; ++outer) {
        for (int inner = 0; inner < 2; ++inner) {
            if (second > first)
                barrier(CLK_LOCAL_MEM_FENCE);
            if (first > 0)
                barrier(CLK_LOCAL_MEM_FENCE);
            ++times;
        }
    }
    if (first > 0)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = times;
}

