// pocl 445: a private array with an initializer, copied by a loop that is not unrolled, held other values.
// range: 1 by 1
// out: int 1 2 3 4 5 6 7 8 9
kernel void __attribute__((reqd_work_group_size(1, 1, 1))) test(global int *restrict out)
{
    int array[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
#pragma nounroll
    for (int i = 0; i < 9; ++i)
        out[i] = array[i];
}
