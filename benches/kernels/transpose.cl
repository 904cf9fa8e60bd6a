#define TILE 32
#define ROWS 8

// Tiles through local memory, so that both sides are read and written along rows.
kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose(global const float *restrict source, global float *restrict target, uint width, uint height)
{
    // One more column: the items that read a column meet different banks.
    local float tile[TILE][TILE + 1];
    uint x = get_local_id(0), y = get_local_id(1);
    uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    for (uint row = y; row < TILE; row += ROWS)
        tile[row][x] = source[(top + row) * width + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = y; row < TILE; row += ROWS)
        target[(left + row) * height + top + x] = tile[x][row];
}
