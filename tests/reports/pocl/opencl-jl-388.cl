// OpenCL.jl 388: a scan in local memory with padded indices, up and down the tree with a barrier in each loop, never ended.
// range: 16 by 16
// inout: int 0 5 3 1 6 4 2 0 5 3 1 6 4 2 0 5 3 1 6 4 2 0 5 3 1 6 4 2 0 5 3 1 -> int 0 5 8 9 15 19 2*21 26 29 30 36 40 2*42 47 50 51 57 61 2*63 68 71 72 78 82 2*84 89 92 93
#define PADDING(n) ((n) >> 2)

kernel void test(global int *data)
{
    local int tree[32 + 8];
    uint lane = get_local_id(0), size = get_local_size(0);
    uint a = lane, b = lane + size, offset = 1, pairs = size * 2;
    tree[a + PADDING(a)] = data[a];
    tree[b + PADDING(b)] = data[b];
    uint d = pairs >> 1;
    while (d > 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < d) {
            uint x = offset * (2 * lane + 1) - 1, y = offset * (2 * lane + 2) - 1;
            x += PADDING(x);
            y += PADDING(y);
            tree[y] += tree[x];
        }
        offset <<= 1;
        d >>= 1;
    }
    if (lane == 0)
        tree[pairs - 1 + PADDING(pairs - 1)] = 0;
    d = 1;
    while (d < pairs) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < d) {
            uint x = offset * (2 * lane + 1) - 1, y = offset * (2 * lane + 2) - 1;
            x += PADDING(x);
            y += PADDING(y);
            int t = tree[x];
            tree[x] = tree[y];
            tree[y] += t;
        }
        d <<= 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[a] += tree[a + PADDING(a)];
    data[b] += tree[b + PADDING(b)];
}
