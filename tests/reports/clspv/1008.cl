// clspv 1008: get_global_linear_id made an invalid module.
// options: -cl-std=CL3.0
// range: 3x2x2 by 3x1x2
// out: uint 0 1 2 3 4 5 6 7 8 9 10 11
// out: uint 0 1 2 0 1 2 3 4 5 3 4 5
kernel void test(global uint *global_ids, global uint *local_ids)
{
    size_t i = get_global_linear_id();
    global_ids[i] = (uint)((get_global_id(2) * 2 + get_global_id(1)) * 3 + get_global_id(0));
    local_ids[i] = get_local_linear_id();
}
