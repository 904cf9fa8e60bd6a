// pocl 195: structures of local memory as arguments and result of a function were an invalid cast.
// range: 8 by 8
// out: int 2*0 2*1 3 2 6 3 10 4 15 5 21 6 28 7
typedef struct {
    int sum, last;
} scanned;

scanned add(scanned a, scanned b)
{
    scanned both = { a.sum + b.sum, b.last };
    return both;
}

kernel void test(global scanned *out)
{
    local scanned data[8];
    int lane = get_local_id(0);
    data[lane].sum = lane;
    data[lane].last = lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < 8; step *= 2) {
        scanned both = data[lane];
        if (lane >= step)
            both = add(data[lane - step], data[lane]);
        barrier(CLK_LOCAL_MEM_FENCE);
        data[lane] = both;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[lane] = data[lane];
}
