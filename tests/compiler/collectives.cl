// Collectives of work-groups and sub-groups, and printf.
kernel void collectives(global int *g) {
    g[0] = work_group_reduce_add(g[1]) + work_group_scan_exclusive_max(g[2]);
    g[3] = work_group_any(g[4]) + work_group_all(g[5]) + work_group_broadcast(g[6], 1);
    g[7] = sub_group_reduce_add(g[8]) + get_sub_group_id();
}

kernel void print(global int *g, global float4 *v) {
    printf("x %d %v4f\n", g[0], v[0]);
}
