// VC4C 98: in a loop, one element is replaced and, in one of two cases, the next one raised.
// inout: int 0 5 2*0 7 0 1 -> int 100 5*200 301
// value: int 6
// out: float 0 -1 -2 -3 -4 -5 -6
kernel void test(global int *a, const int n, global float b[])
{
    for (int i = 0; i < n; i++) {
        if (a[i] == 0)
            a[i] = 100;
        else {
            a[i] = 200;
            a[i + 1] += 300;
        }
    }
    for (int i = 0; i <= n; i++)
        b[i] = -i;
}
