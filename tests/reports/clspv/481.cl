// clspv 481: a loop of one block as the last thing in another loop, and a choice around both.
// range: 4
// in: float 1 2 3 4 5 6 7 8 9
// out: float 45 10 0 0
// value: int 3
kernel void test(global const float *in, global float *out, int size)
{
    int id = get_global_id(0);
    float sum = 0.0f;
    if (id < 2) {
        for (int y = 0; y < size - id; y++) {
            int x = 0;
            do {
                sum += in[(y * size + x) & 15];
                x++;
            } while (x < size - 2 * id);
        }
    }
    out[id] = fmax(id == 1 ? 2 * sum : sum, 0.0f);
}
