#define GROUP 256

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void clear(global uint *bins)
{
    bins[get_local_id(0)] = 0;
}

void count_bytes(local uint *bins, uint word)
{
    atomic_inc(&bins[word & 255]);
    atomic_inc(&bins[word >> 8 & 255]);
    atomic_inc(&bins[word >> 16 & 255]);
    atomic_inc(&bins[word >> 24]);
}

// How often each byte occurs: counted in local memory, one bin an item, then added up.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void count(global const uint4 *restrict source, uint length, global uint *restrict bins)
{
    local uint counts[GROUP];
    uint item = get_local_id(0);
    counts[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < length; i += get_global_size(0)) {
        uint4 words = source[i];
        count_bytes(counts, words.x);
        count_bytes(counts, words.y);
        count_bytes(counts, words.z);
        count_bytes(counts, words.w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[item], counts[item]);
}
