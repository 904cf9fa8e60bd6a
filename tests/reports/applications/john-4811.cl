// John the Ripper 4811: atomic functions of pointers that are not volatile.
// range: 16 by 8
// inout: uint 0 100 0 0xffffffff -> uint 16 84 15 0
// inout: int 5 5 -> int -3 12
// out: uint 8 8
kernel void test(global uint *counts, global int *limits, global uint *groups)
{
    local uint count;
    int id = get_global_id(0);
    if (get_local_id(0) == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count);
    atomic_inc(counts);
    atomic_sub(counts + 1, 1u);
    atomic_or(&counts[2], (uint)id);
    atomic_and(&counts[3], 1u << id);
    atomic_min(&limits[0], id - 3);
    atomic_max(&limits[1], id - 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    groups[get_group_id(0)] = count;
}
