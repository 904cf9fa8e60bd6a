// oclgrind: variables of the program that point into others were not relocated.
// options: -cl-std=CL3.0
// needs: __opencl_c_program_scope_global_variables
// out: int 7 42 -3 56 42 56 7
global int numbers[] = { 7, 42 };
constant int fixed[] = { -3, 56 };
global int *second = &numbers[1];
constant int *also_second = &fixed[1];

kernel void test(global int *out)
{
    out[0] = numbers[0];
    out[1] = numbers[1];
    out[2] = fixed[0];
    out[3] = fixed[1];
    out[4] = *second;
    out[5] = *also_second;
    out[6] = second[-1];
}
