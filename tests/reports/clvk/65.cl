// clvk 65: the functions of work-items, in three dimensions, where no size divides another.
// options: -cl-std=CL3.0
// range: 6x4x2 by 3x2x1
// inout: uint 48*0 -> uint 48*1
// out: uint 3 6 4 2 3 2 1 2 2 2
kernel void test(global uint *seen, global uint *sizes)
{
    uint x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    uint y = get_group_id(1) * get_enqueued_local_size(1) + get_local_id(1);
    uint z = get_group_id(2) + get_local_id(2);
    int same = x == get_global_id(0) && y == get_global_id(1) && z == get_global_id(2)
        && get_local_linear_id() == (get_local_id(2) * 2 + get_local_id(1)) * 3 + get_local_id(0)
        && get_global_linear_id() == (z * 4 + y) * 6 + x;
    atomic_add(&seen[(z * 4 + y) * 6 + x], same);
    if (get_global_linear_id() == 0) {
        sizes[0] = get_work_dim();
        for (int i = 0; i < 3; i++) {
            sizes[1 + i] = get_global_size(i);
            sizes[4 + i] = get_local_size(i);
            sizes[7 + i] = get_num_groups(i);
        }
    }
}
