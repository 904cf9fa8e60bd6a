// VC4C 112: indices that are negative, constant or computed, from a pointer into the middle of an array.
// range: 4
// in: int 0 1 2 3 4 5 6 7 8 9 10 11
// out: int 355 446 537 628
kernel void test(global const int *in, global int *out)
{
    int i = get_global_id(0);
    global const int *middle = in + 6 + i;
    global const int *fixed = in + 6;
    uint back = (uint)-3;
    out[i] = middle[-1] + fixed[-(i + 1)] * 10 + middle[(int)back] * 100;
}
