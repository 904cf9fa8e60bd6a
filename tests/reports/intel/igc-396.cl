// intel-graphics-compiler 396: a shuffle that only the first work-group does gave zeros.
// options: -cl-std=CL3.0
// needs: cl_khr_subgroup_shuffle __opencl_c_subgroups
// range: 8 by 4
// in: int 11 22 33 44 55 66 77 88
// out: int 4*22 4*0
kernel void test(global const int *in, global int *out)
{
    int id = get_global_id(0), result = 0;
    if (get_group_id(0) == 0) {
        result = sub_group_shuffle(in[id], 1);
        if (get_max_sub_group_size() < 2)
            result = 22;
    }
    out[id] = result;
}
