// oclgrind 77: a function that is only `inline`, and takes pointers, was undefined.
// range: 4
// in: float 1 2 3 4
// in: float 10 20 30 40
// out: float 11 22 33 44
inline void add(global const float *a, global const float *b, global float *sum)
{
    *sum = *a + *b;
}

kernel void test(global const float *a, global const float *b, global float *out)
{
    int i = get_global_id(0);
    add(a + i, b + i, out + i);
}
