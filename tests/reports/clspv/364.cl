// clspv 364: an array of four bytes, which the optimizer made one word, with a barrier between its accesses.
// range: 4 by 2
// in: char 3 -5
// in: char 7 30
// out: char 21 0 0 1 21 0 0 1
kernel void test(global const char *a, global const char *b, global char *out)
{
    char sums[4] = { 0, 0, 0, 0 };
    int group = get_group_id(0);
    {
        char sum = sums[0] + b[0] * a[0];
        sums[0] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[3] = (char)(sum * 13 + b[1] * a[1] * 3 - 78);
        sums[3] = sums[3] == (char)(21 * 13 - 450 - 78);
    }
    for (int n = 0; n < 4; n++)
        out[4 * group + n] = sums[n];
}
