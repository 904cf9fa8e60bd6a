// pocl: loads of a neighbour's element moved over the barrier behind them.
// range: 64 by 64
// out: int 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 0
// inout: int 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 -> int 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 0
kernel void test(global int *out, global int *rotated)
{
    local int scratch[64];
    int lane = get_local_id(0);
    scratch[lane] = lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    int t = scratch[(lane + 1) % 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[lane] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[lane] = scratch[lane];
    int u = rotated[(lane + 1) % 64];
    barrier(CLK_GLOBAL_MEM_FENCE);
    rotated[lane] = u;
}
