// OpenCL-Docs 178: any and all of scalars and vectors look at the highest bit.
// in: int 1 -1 0 -2147483648
// out: int 0 1 0 1
// out: int 0 1 0 1
// in: char 1 2 -3 4 -1 -2 -3 -128
// out: int 1 0 1 1
kernel void test(global const int *in, global int *anys, global int *alls, global const char4 *v, global int *vectors)
{
    for (int i = 0; i < 4; i++) {
        anys[i] = any(in[i]);
        alls[i] = all(in[i]);
    }
    vectors[0] = any(v[0]);
    vectors[1] = all(v[0]);
    vectors[2] = any(v[1].xyz);
    vectors[3] = all(v[1]);
}
