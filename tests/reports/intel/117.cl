// compute-runtime 117: erosion over a tile in local memory, with work-items that only load, was wrong.
// range: 12x8 by 6x1
// in: uchar 0 37 74 10 47 84 20 57 94 30 67 3 40 77 13 50 87 23 60 97 33 70 6 43 80 16 53 90 26 63 100 36 73 9 46 83 19 56 93 29 66 2 39 76 12 49 86 22 59 96 32 69 5 42 79 15 52 89 25 62 99 35 72 8
// out: uchar 2*0 3*3 3*13 2*0 3*3 3*6 2*16 3*3 3*6 3*9 2*19 3*6 3*2 3*12 2*22 3*2 3*5 2*15 3*2 3*5 2*8 52 2*25 3*5 2*8
// value: int 8
#define WIDTH 6
#define RADIUS 1

kernel void test(global const uchar *in, global uchar *out, int size)
{
    local uchar tile[3][WIDTH];
    int lane = get_local_id(0), group = get_group_id(0), y = get_global_id(1);
    int x = mad24(group, WIDTH - RADIUS * 2, lane) - RADIUS;
    for (int j = 0; j < 3; j++) {
        int row = y - RADIUS + j;
        tile[j][lane] = x >= 0 && x < size && row >= 0 && row < size ? in[mad24(row, size, x)] : UCHAR_MAX;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane >= RADIUS && lane < WIDTH - RADIUS && x < size) {
        uchar least = UCHAR_MAX;
        for (int j = 0; j < 3; j++)
            for (int i = -RADIUS; i <= RADIUS; i++)
                least = min(least, tile[j][lane + i]);
        out[mad24(y, size, x)] = least;
    }
}
