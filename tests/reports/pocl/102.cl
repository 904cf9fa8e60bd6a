// pocl 102: a private variable set in a loop by one work-item was set for the whole work-group.
// range: 8 by 4
// value: int 5
// out: int 6*-1 3 -1
kernel void test(int limit, global int *out)
{
    int hit = -1;
    for (int i = 0; i < limit; ++i) {
        if (i == 3 && get_global_id(0) == 6)
            hit = i;
    }
    if (hit != -1)
        out[get_global_id(0)] = hit;
    else
        out[get_global_id(0)] = -1;
}
