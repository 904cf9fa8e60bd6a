// chipStar 671: a vote for all of a sub-group was compared with the mask of a larger one.
// options: -cl-std=CL3.0
// needs: __opencl_c_subgroups
// range: 8 by 8
// out: int 8*1
// out: int 8*0
// out: int 8*1
// out: int 8*0
kernel void test(global int *all_true, global int *all_false, global int *any_true, global int *any_false)
{
    int id = get_local_id(0);
    uint lane = get_sub_group_local_id();
    all_true[id] = sub_group_all(id >= 0);
    all_false[id] = sub_group_all(lane != 0);
    any_true[id] = sub_group_any(lane == 0);
    any_false[id] = sub_group_any(id > 100);
}
