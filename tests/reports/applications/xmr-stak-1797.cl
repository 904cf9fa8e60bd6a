// xmr-stak 1797: an element that is read and then cleared was added as if it had been cleared before.
// range: 4
// inout: int 5 7 0 0 -> int 5 0 0 0
// inout: uint 100 -> uint 107
kernel void test(global int *a, global uint *result)
{
    if (get_global_id(0) == 0) {
        uint n = a[1];
        a[1] = 0;
        result[0] += n;
    }
}
