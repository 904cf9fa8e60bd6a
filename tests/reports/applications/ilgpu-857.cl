// ILGPU 857: a switch over an id, whose cases each return, and a loop made of gotos.
// range: 4x3
// out: float 0 1 2 9 10 11 12 19 20 21 22 29
// out: int 0 1 3 6
kernel void test(global float *canvas, global int *sums)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (y != 0)
        goto L_switch;
    int i, sum;
    i = 0;
    sum = 0;
    goto L_condition;
L_body:
    sum = sum + i;
    i = i + 1;
L_condition:
    if (i <= x)
        goto L_body;
    sums[x] = sum;
L_switch:
    switch (x) {
    case 0: {
        canvas[y * 4 + x] = 10 * y;
        return;
    }
    case 1: {
        canvas[y * 4 + x] = 10 * y + 1;
        return;
    }
    case 2: {
        canvas[y * 4 + x] = 10 * y + 2;
        return;
    }
    }
    canvas[y * 4 + x] = 10 * y + 9;
    return;
}
