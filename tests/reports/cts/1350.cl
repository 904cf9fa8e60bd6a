// OpenCL-CTS 1350: the first active item of an exclusive scan, others being elsewhere, gets the identity.
// options: -cl-std=CL3.0
// needs: cl_khr_subgroup_non_uniform_arithmetic
// range: 4 by 4
// in: int 10 20 30 40
// out: int -1 2147483647 -1 20
// out: int -1 0 -1 20
// out: uint 7 4294967295 7 20
kernel void test(global const int *in, global int *least, global int *sums, global uint *both)
{
    uint i = get_local_id(0);
    least[i] = sums[i] = -1;
    both[i] = 7;
    if (i & 1) {
        least[i] = sub_group_non_uniform_scan_exclusive_min(in[i]);
        sums[i] = sub_group_non_uniform_scan_exclusive_add(in[i]);
        both[i] = sub_group_non_uniform_scan_exclusive_and((uint)in[i]);
    }
}
