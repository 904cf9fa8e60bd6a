// pocl 231: a scan by steps of two, in local memory of structures, with a barrier at the head of each iteration.
// range: 16 by 16
// out: int 2*0 2*1 2*2 2*3 2*4 2*5 2*6 2*7
kernel void __attribute__((reqd_work_group_size(16, 1, 1))) test(global int *out)
{
    struct wrapped {
        int value;
    };
    local struct wrapped data[16];
    int lane = get_local_id(0);
    data[lane].value = 0;
    for (int i = 0; i < 10; ++i) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int value = 0;
        if (lane >= 2) {
            int before = data[lane - 2].value;
            value = before + 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        data[lane].value = value;
    }
    out[lane] = data[lane].value;
}
