// SPIRV-Tools 787: a function with a choice, called in a loop of one block.
// value: int 4
// inout: int 5 6 7 8 1 -> int 2 3 4 5 5
int raised(global int *a, int n)
{
    if (n < 19)
        a[n] += 1;
    return a[n];
}

kernel void test(int n, global int *a)
{
    for (int i = 0; i < n; i++)
        a[i] = raised(a, n);
}
