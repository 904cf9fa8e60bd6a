#define GROUP 256
#define BLOCK (2 * GROUP) // elements in local memory

// The lower place of the pair that `pair` is, when partners are `distance`, a power of two, apart.
uint lower_place(uint pair, uint distance)
{
    return 2 * pair - (pair & (distance - 1));
}

void order_local(local uint *keys, uint distance, uint ascending)
{
    uint low = lower_place(get_local_id(0), distance);
    uint a = keys[low], b = keys[low + distance];
    keys[low] = ascending ? min(a, b) : max(a, b);
    keys[low + distance] = ascending ? max(a, b) : min(a, b);
}

// Blocks sorted, every other one downwards.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_blocks(global uint *keys)
{
    local uint block[BLOCK];
    uint item = get_local_id(0), first = get_group_id(0) * BLOCK;
    block[item] = keys[first + item];
    block[item + GROUP] = keys[first + item + GROUP];
    for (uint size = 2; size <= BLOCK; size *= 2) {
        uint ascending = (get_global_id(0) & (size / 2)) == 0;
        for (uint distance = size / 2; distance > 0; distance /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            order_local(block, distance, ascending);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + item] = block[item];
    keys[first + item + GROUP] = block[item + GROUP];
}

// One step of merging sequences of `size`, with partners further apart than a block.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void merge_step(global uint *keys, uint size, uint distance)
{
    uint pair = get_global_id(0);
    uint low = lower_place(pair, distance);
    uint a = keys[low], b = keys[low + distance];
    uint ascending = (pair & (size / 2)) == 0;
    keys[low] = ascending ? min(a, b) : max(a, b);
    keys[low + distance] = ascending ? max(a, b) : min(a, b);
}

// The steps of merging sequences of `size` that are left when partners are in the same block.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void merge_blocks(global uint *keys, uint size)
{
    local uint block[BLOCK];
    uint item = get_local_id(0), first = get_group_id(0) * BLOCK;
    block[item] = keys[first + item];
    block[item + GROUP] = keys[first + item + GROUP];
    uint ascending = (get_global_id(0) & (size / 2)) == 0;
    for (uint distance = BLOCK / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        order_local(block, distance, ascending);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + item] = block[item];
    keys[first + item + GROUP] = block[item + GROUP];
}

kernel void restore(global const uint *restrict source, global uint *restrict keys)
{
    keys[get_global_id(0)] = source[get_global_id(0)];
}
