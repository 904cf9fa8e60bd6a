// intel/llvm 2038: a bound written as a negated sum of the local id and an argument was wrong.
// range: 48 by 16
// in: float 0 1 2 3 4 5 6 7 8 9 10 11
// out: float 0 1 4 9 16 25 36 49 64 81 100 121
// value: int 3
kernel void __attribute__((reqd_work_group_size(16, 1, 1))) test(global const float *in, global float *out, int last)
{
    int lane = get_local_id(0), group = get_group_id(0);
    if (-1 * lane + last >= 0) {
        float x = in[(1 + last) * group + lane];
        out[(1 + last) * group + lane] = x * x;
    }
}
