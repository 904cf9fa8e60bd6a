// Work-item functions, barriers, atomics, asynchronous copies.
kernel void ids(global size_t *o, uint d) {
    o[0] = get_global_id(d) + get_local_id(1) * get_group_id(2);
    o[1] = get_global_size(0) + get_local_size(d) + get_num_groups(1) + get_global_offset(0);
    o[2] = get_work_dim() + get_global_linear_id() + get_local_linear_id();
    o[3] = get_enqueued_local_size(0);
}

kernel void copies(global float4 *g, local float4 *l, local float3 *l3, global float3 *g3, local int *n) {
    event_t e = async_work_group_copy(l, g, 10, 0);
    e = async_work_group_strided_copy(l3, g3, 5, 2, e);
    wait_group_events(1, &e);
    g[get_global_id(0)] = l[get_local_id(0)];
    e = async_work_group_copy((global int *)g, n, 7, 0);
    wait_group_events(1, &e);
}

kernel void atomics(global int *g, local uint *l, global atomic_int *a, global float *f) {
    g[0] = atomic_inc(g + 1) + atomic_cmpxchg(g + 2, 3, 4) + atomic_max(g + 5, 6);
    l[0] = atomic_min(l + 1, 7u) + atomic_xchg(l + 2, 8u);
    f[0] = atomic_xchg(f + 1, 2.0f);
    atomic_fetch_add_explicit(a, 5, memory_order_relaxed, memory_scope_device);
    int expected = 3;
    g[6] = atomic_compare_exchange_strong(a, &expected, 9) + expected;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    g[7] = atomic_load(a);
}
