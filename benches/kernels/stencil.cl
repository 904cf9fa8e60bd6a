#define WIDTH 32
#define HEIGHT 8
#define RADIUS 2

// A star of nine points over a tile in local memory; the edges of the field repeat outwards.
kernel __attribute__((reqd_work_group_size(WIDTH, HEIGHT, 1)))
void smooth(global const float *restrict source, global float *restrict target, uint width, uint height)
{
    local float tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
    int x = get_local_id(0), y = get_local_id(1);
    int left = get_group_id(0) * WIDTH, top = get_group_id(1) * HEIGHT;
    for (int row = y; row < HEIGHT + 2 * RADIUS; row += HEIGHT) {
        int from_row = clamp(top + row - RADIUS, 0, (int)height - 1);
        for (int column = x; column < WIDTH + 2 * RADIUS; column += WIDTH) {
            int from_column = clamp(left + column - RADIUS, 0, (int)width - 1);
            tile[row][column] = source[from_row * width + from_column];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    x += RADIUS;
    y += RADIUS;
    float near = tile[y][x - 1] + tile[y][x + 1] + tile[y - 1][x] + tile[y + 1][x];
    float far = tile[y][x - 2] + tile[y][x + 2] + tile[y - 2][x] + tile[y + 2][x];
    target[get_global_id(1) * width + get_global_id(0)] = 0.5f * tile[y][x] + 0.1f * near + 0.025f * far;
}
