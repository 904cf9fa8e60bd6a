// ROCm 1182: goto out of two nested loops ended the kernel where the condition was false.
// range: 3
// in: int 1 2 3 4 5 1 2 9 4 5 1 2 3 4 5
// value: int 5
// out: int 15 -1 15
kernel void test(global const int *in, int bound, global int *out)
{
    int id = get_global_id(0), failed = 0, sum = 0;
    for (int i = 0; i < 1; i++) {
        for (int j = 0; j < 5; j++) {
            int x = in[id * 5 + i * 5 + j];
            if (x > bound) {
                failed = 1;
                goto error;
            }
            sum += x;
        }
        for (int j = 0; j < 5; j++) {
            int x = in[id * 5 + j];
            if (x < 0) {
                failed = 2;
                goto error;
            }
        }
    }
error:
    if (failed) {
        out[id] = -failed;
        return;
    }
    out[id] = sum;
}
