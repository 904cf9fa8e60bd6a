// gpuowl 276: a variable of the program with an initializer was not supported.
// options: -cl-std=CL3.0
// needs: __opencl_c_program_scope_global_variables
// range: 4
// out: int 3 9 4 16
// out: float 0.5 1.5 2.5 3.5
typedef struct {
    int a;
    float b[3];
    global int *next;
} node;

global int squares[4] = { 1, 4, 9, 16 };
global int unset;
global node list[2] = { { 3, { 0.5f, 1.5f }, &squares[2] }, { 4, { 2.5f, 3.5f, 4.5f }, squares + 3 } };
constant node *constant unused = 0;

kernel void test(global int *ints, global float *floats)
{
    int i = get_global_id(0);
    if (i < 2) {
        ints[2 * i] = list[i].a + unset;
        ints[2 * i + 1] = *list[i].next;
    }
    floats[i] = list[i / 2].b[i % 2];
}
