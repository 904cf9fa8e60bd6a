// clspv 1563: of two pointers to different arguments one is chosen by a condition.
// range: 4
// in: float 1 2 3 4
// in: float 10 20 30 40
// out: float 1 3 20 30
// value: int 2
// value: int 1
kernel void test(global float *first, global float *second, global float *out, int count, int skipped)
{
    int id = (int)get_global_id(0);
    float x = 0.0f;
    if (id < count)
        x = first[id * count];
    else
        x = second[skipped + (id - count)];
    out[id] = x;
}
