// intel/llvm 7877: a loop whose bounds are conditions on the ids did not fill the whole array.
// range: 10 by 5
// out: int 0 1 2 3 4 5 6 7 8 9
kernel void __attribute__((reqd_work_group_size(5, 1, 1))) test(global int *restrict out)
{
    int lane = get_local_id(0), group = get_group_id(0);
    if (5 + -5 * group + -1 * lane >= 0)
        for (int j = ((group == 0 && lane == 0) ? 0 : -1 + 2 * lane + 10 * group);
             j <= ((-1 + group == 0 && lane == 0) ? 9 : 2 * lane); ++j)
            out[j] = j;
}
