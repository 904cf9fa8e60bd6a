// llama.cpp 22006: reductions and scans of a sub-group crashed the compiler.
// options: -cl-std=CL3.0
// needs: __opencl_c_subgroups
// range: 16 by 16
// out: int 4*1
kernel void test(global int *right)
{
    local float sums[16];
    local int wrong;
    int id = get_local_id(0);
    uint lane = get_sub_group_local_id(), size = get_sub_group_size(), group = get_sub_group_id();
    if (id == 0)
        wrong = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = sub_group_reduce_add((float)lane + 1);
    float most = sub_group_reduce_max((float)lane);
    int before = sub_group_scan_exclusive_add(1);
    int up_to = sub_group_scan_inclusive_add((int)lane);
    if (sum != size * (size + 1) / 2.0f)
        atomic_or(&wrong, 1);
    if (most != size - 1)
        atomic_or(&wrong, 2);
    if (before != lane)
        atomic_or(&wrong, 4);
    if (up_to != lane * (lane + 1) / 2)
        atomic_or(&wrong, 8);
    if (lane == 0)
        sums[group] = size;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 4)
        right[id] = (wrong >> id & 1) == 0;
    if (id == 0) {
        float all = 0;
        for (uint i = 0; i < get_num_sub_groups(); i++)
            all += sums[i];
        if (all != 16)
            right[0] = -1;
    }
}
