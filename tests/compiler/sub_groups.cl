// Sub-group functions of every kind, on types of every size, in control flow that diverges.
#define EACH(T, N) \
kernel void arithmetic_##N(global T *p, global uint *mask) { \
    size_t i = get_global_id(0); \
    T x = p[i]; \
    if (mask[i] & 1) { \
        x += sub_group_non_uniform_reduce_add(x); \
        x += sub_group_non_uniform_scan_exclusive_min(x); \
        x += sub_group_clustered_reduce_max(x, 4); \
    } else { \
        x += sub_group_non_uniform_reduce_add(x); \
        x += sub_group_non_uniform_scan_inclusive_mul(x); \
    } \
    p[i] = sub_group_reduce_max(x) + sub_group_scan_exclusive_add(x); \
} \
kernel void movement_##N(global T *p, global uint *mask) { \
    size_t i = get_global_id(0); \
    T x = p[i]; \
    x += sub_group_shuffle(x, mask[i]) + sub_group_shuffle_xor(x, 1); \
    x += sub_group_shuffle_up(x, 1) + sub_group_shuffle_down(x, 1); \
    x += sub_group_rotate(x, 3) + sub_group_clustered_rotate(x, 1, 4); \
    x += sub_group_broadcast(x, 2) + sub_group_non_uniform_broadcast(x, 1) + sub_group_broadcast_first(x); \
    p[i] = sub_group_non_uniform_all_equal(x) ? x : 1; \
} \
kernel void work_group_##N(global T *p) { \
    size_t i = get_global_id(0); \
    p[i] = WORK_GROUP(p[i]); \
}
#define WORK_GROUP(x) (work_group_reduce_add(x) + work_group_scan_exclusive_min(x) + work_group_broadcast(x, 1))
EACH(int, int)
EACH(ulong, ulong)
EACH(float, float)
#undef WORK_GROUP
#define WORK_GROUP(x) x
EACH(char, char)
EACH(ushort, ushort)

kernel void ballots(global uint4 *p, global int *q) {
    size_t i = get_global_id(0);
    uint4 mask = sub_group_ballot(q[i]);
    q[i] = sub_group_inverse_ballot(mask) + sub_group_ballot_bit_extract(mask, 3)
        + sub_group_ballot_bit_count(mask) + sub_group_ballot_inclusive_scan(mask)
        + sub_group_ballot_find_lsb(mask) + sub_group_ballot_find_msb(mask) + sub_group_elect()
        + sub_group_non_uniform_any(q[i]) + sub_group_all(q[i]);
    p[i] = mask + get_sub_group_ge_mask() + get_sub_group_lt_mask();
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
}
