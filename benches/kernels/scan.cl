#define GROUP 256
#define ROUNDS 4 // of GROUP uint4 a group

// The exclusive sum of `value` over the items of the group; `total` is the sum of all.
uint scan_group(local uint *sums, uint value, uint *total)
{
    uint item = get_local_id(0);
    uint sum = value;
    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP; distance *= 2) {
        uint other = item >= distance ? sums[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += other;
        sums[item] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *total = sums[GROUP - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - value;
}

// Each group's sum.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sum_blocks(global const uint4 *restrict source, global uint *restrict sums)
{
    local uint partial[GROUP];
    uint item = get_local_id(0);
    uint first = get_group_id(0) * GROUP * ROUNDS + item;
    uint4 total = (uint4)(0);
    for (uint round = 0; round < ROUNDS; round++)
        total += source[first + round * GROUP];
    partial[item] = total.x + total.y + total.z + total.w;
    for (uint half_width = GROUP / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_width)
            partial[item] += partial[item + half_width];
    }
    if (item == 0)
        sums[get_group_id(0)] = partial[0];
}

// One group makes the sums of `count` groups exclusive sums.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_sums(global uint *restrict sums, uint count)
{
    local uint partial[GROUP];
    uint before = 0;
    for (uint first = 0; first < count; first += GROUP) {
        uint place = first + get_local_id(0);
        uint total;
        uint sum = scan_group(partial, place < count ? sums[place] : 0, &total);
        if (place < count)
            sums[place] = before + sum;
        before += total;
    }
}

// The exclusive sums of all elements, knowing those of the groups.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_blocks(global const uint4 *restrict source, global const uint *restrict sums,
                 global uint4 *restrict target)
{
    local uint partial[GROUP];
    uint first = get_group_id(0) * GROUP * ROUNDS + get_local_id(0);
    uint before = sums[get_group_id(0)];
    for (uint round = 0; round < ROUNDS; round++) {
        uint4 value = source[first + round * GROUP];
        uint total;
        uint sum = before + scan_group(partial, value.x + value.y + value.z + value.w, &total);
        target[first + round * GROUP] =
            (uint4)(sum, sum + value.x, sum + value.x + value.y, sum + value.x + value.y + value.z);
        before += total;
    }
}
