// CLBlast 298: a work-item's number in a volatile variable, as part of indices into local and private arrays.
// range: 8 by 8
// in: float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// out: float 54 58 62 66 70 66 62 58
kernel void test(global const float *in, global float *out)
{
    local float tile[4][8];
    volatile int tid = get_local_id(0);
    for (int j = 0; j < 4; j++)
        tile[j][tid] = in[j * 8 + tid];
    barrier(CLK_LOCAL_MEM_FENCE);
    float registers[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        registers[j] = tile[j][(tid + j) % 8];
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 4; j++)
        sum += registers[j];
    out[tid] = sum;
}
