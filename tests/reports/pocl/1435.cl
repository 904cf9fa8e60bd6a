// pocl 1435: a union of a vector and an array, shifted as the one and stored as the other between barriers.
// range: 3x4 by 3x1
// in: float 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1
// out: float 2*6 16 6 16 15 16 15 25 15 2*25 2*7 17 7 17 16 17 16 15 16 2*15 2*14 13 14 13 23 13 23 11 23 2*11 2*10 20 10 20 19 20 19 7 19 2*7 2*11 21 11 21 20 21 20 8 20 2*8
// value: int 1
// value: int 5
// value: int 4
kernel void test(global const float *image, global float *sums, int half_height, int height, int width)
{
    int lane = get_local_id(0), x = get_global_id(1);
    if (x < width) {
        union {
            float element[8];
            float8 vector;
        } input;
        input.vector = (float8)MAXFLOAT;
        int rows = 2 * half_height + 1;
        int column = clamp(x + lane - 1, 0, width - 1);
        for (int y = 0; y < height; y++) {
            if (y == 0) {
                for (int i = 0; i < rows; i++)
                    input.element[i] = image[column + width * clamp(y + i - half_height, 0, height - 1)];
            } else {
                float8 v = input.vector;
                input.vector = (float8)(v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, MAXFLOAT);
                barrier(CLK_LOCAL_MEM_FENCE);
                input.element[rows - 1] = image[column + width * clamp(y + half_height, 0, height - 1)];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            float sum = 0;
            for (int i = 0; i < rows; i++)
                sum += input.element[i];
            sums[(y * width + x) * 3 + lane] = sum;
        }
    }
}
