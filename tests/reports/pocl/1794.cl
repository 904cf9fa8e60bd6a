// pocl 1794: a reduction over a work-group by doubled distances, whose last load is conditional, stored out of bounds.
// range: 8 by 4
// in: int 1 1 1 1 1 0 1 1
// out: int 1 0
// value: int 8
int reduced(int mine, local int *shared)
{
    int items = get_local_size(0), item = get_local_id(0) + 1;
    shared[item - 1] = mine;
    int d = 1;
    while (d < items) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int index = 2 * d * (item - 1) + 1;
        if (index <= items) {
            int other = 1;
            if (index + d <= items)
                other = shared[index + d - 1];
            shared[index - 1] &= other;
        }
        d *= 2;
    }
    if (item == 1)
        mine = shared[0];
    return mine;
}

kernel void test(global const int *in, global int *out, int n)
{
    local int shared[4];
    int i = get_global_id(0), mine = 1;
    if (i < n)
        mine = mine && in[i];
    mine = reduced(mine, shared);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = mine;
}
