// llvm 153784: what the functions of a work-item return for dimensions that do not exist.
// range: 6 by 3
// value: uint 3
// value: uint 0x80000000
// out: uint 6*0x00111000
// out: uint 6*0x00111000
kernel void test(uint third, uint far, global uint *a, global uint *b)
{
    size_t i = get_global_id(0);
    a[i] = get_global_id(third) | get_local_id(third) << 4 | get_group_id(third) << 8 | get_global_size(third) << 12
        | get_local_size(third) << 16 | get_num_groups(third) << 20 | get_global_offset(third) << 24;
    b[i] = get_global_id(far) | get_local_id(far) << 4 | get_group_id(far) << 8 | get_global_size(far) << 12
        | get_local_size(far) << 16 | get_num_groups(far) << 20 | get_global_offset(far) << 24;
}
