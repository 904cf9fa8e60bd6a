// ROCm 1039: a common factor of a pointer's offset, written outside of the sum, gave another address.
// range: 16 by 4
// out: int 0 1000 2000 3000 1 1001 2001 3001 2 1002 2002 3002 10 1010 2010 3010 11 1011 2011 3011 12 1012 2012 3012 100 1100 2100 3100 101 1101 2101 3101 102 1102 2102 3102 110 1110 2110 3110 111 1111 2111 3111 112 1112 2112 3112
#define MIDDLE 3
#define WIDTH 2
#define SIZEX 4
#define WG 4
kernel void test(global int *out)
{
    uint gx = get_group_id(0) / 2, gy = get_group_id(0) % 2, me = get_local_id(0);
    int values[MIDDLE];
    for (int i = 0; i < MIDDLE; ++i)
        values[i] = 100 * gx + 10 * gy + 1000 * me + i;
    out += MIDDLE * (WIDTH * SIZEX * gx + WG * gy);
    out += me;
    for (int i = 0; i < MIDDLE; ++i)
        out[i * WG] = values[i];
}
