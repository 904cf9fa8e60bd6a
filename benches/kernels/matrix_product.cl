// A group computes a tile of 64 x 64, an item 4 x 4 of it.
#define TILE 64
#define DEPTH 16

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void multiply(global const float *restrict a, global const float *restrict b, global float *restrict c, uint n)
{
    // Columns of `a` become rows, padded so that the stores below meet different banks.
    local float rows[DEPTH][TILE + 4];
    local float columns[DEPTH][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint item = y * 16 + x;
    // 256 items load 4 floats each of either tile.
    uint a_row = item / 4, a_column = item % 4 * 4;
    uint b_row = item / 16, b_column = item % 16 * 4;
    global const float *a_from = a + (get_group_id(1) * TILE + a_row) * n + a_column;
    global const float *b_from = b + b_row * n + get_group_id(0) * TILE + b_column;
    float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;

    for (uint k = 0; k < n; k += DEPTH) {
        float4 from_a = *(global const float4 *)(a_from + k);
        float4 from_b = *(global const float4 *)(b_from + k * n);
        barrier(CLK_LOCAL_MEM_FENCE);
        rows[a_column + 0][a_row] = from_a.x;
        rows[a_column + 1][a_row] = from_a.y;
        rows[a_column + 2][a_row] = from_a.z;
        rows[a_column + 3][a_row] = from_a.w;
        *(local float4 *)&columns[b_row][b_column] = from_b;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < DEPTH; j++) {
            float4 left = *(local const float4 *)&rows[j][y * 4];
            float4 right = *(local const float4 *)&columns[j][x * 4];
            sum0 += left.x * right;
            sum1 += left.y * right;
            sum2 += left.z * right;
            sum3 += left.w * right;
        }
    }
    global float *to = c + (get_group_id(1) * TILE + y * 4) * n + get_group_id(0) * TILE + x * 4;
    *(global float4 *)to = sum0;
    *(global float4 *)(to + n) = sum1;
    *(global float4 *)(to + 2 * n) = sum2;
    *(global float4 *)(to + 3 * n) = sum3;
}
