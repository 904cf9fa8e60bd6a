#define GROUP 256

// Each group's sum of the elements that its items stride over.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sum(global const float4 *restrict source, uint count, global float *restrict sums)
{
    local float partial[GROUP];
    uint item = get_local_id(0);
    float4 total = (float4)(0.0f);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        total += source[i];
    partial[item] = (total.x + total.y) + (total.z + total.w);
    for (uint half_width = GROUP / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_width)
            partial[item] += partial[item + half_width];
    }
    if (item == 0)
        sums[get_group_id(0)] = partial[0];
}
