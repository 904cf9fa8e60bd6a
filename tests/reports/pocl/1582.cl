// pocl 1582: a variable of the program that points to an element of another, in a build without optimization.
// options: -cl-std=CL3.0 -cl-opt-disable
// needs: __opencl_c_program_scope_global_variables
// out: int 123 5 77 105
typedef struct {
    char tag;
    global int *at;
} holder;

global int numbers[3] = { 1, 123, 5 };
global int *second = &numbers[1];
global holder held[2] = { { 'h', &numbers[2] }, { 'i', 0 } };
constant int table[2][2] = { { 77, 78 }, { 79, 80 } };
constant int *in_table = &table[0][0];

kernel void touch(int a, int b, global int *c)
{
    numbers[0] = a;
    numbers[1] = b;
    second = c;
    held[1].at = c;
}

kernel void test(global int *out)
{
    out[0] = *second;
    out[1] = *held[0].at;
    out[2] = in_table[0];
    out[3] = held[1].tag;
}
