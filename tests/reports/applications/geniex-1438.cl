// GenieX 1438 and 1250: strides of 64 bits times a step of the work-group's size, and a minimum with that, were impossible instructions.
// range: 8 by 4
// in: uchar 6*0 128 63 3*0 64 2*0 2*64 2*0 128 64 2*0 160 64 2*0 192 64 2*0 224 64 3*0 65 2*0 16 65 2*0 32 65 2*0 48 65 2*0 64 65 2*0 80 65 2*0 96 65 2*0 112 65 2*0 128 65 2*0 136 65 2*0 144 65 2*0 152 65
// out: float 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38
// out: int 4 3
// value: int 10
// value: ulong 4 40
// value: int 3
kernel void test(global const char *src, global float *dst, global int *least, int ne0, ulong2 strides, int few)
{
    int row = get_group_id(0);
    global const char *from = src + row * strides.y;
    global char *to = (global char *)dst + row * strides.y;
    for (int i0 = get_local_id(0); i0 < ne0; i0 += get_local_size(0))
        *((global float *)(to + i0 * strides.x)) = *((global float *)(from + i0 * strides.x)) * 2;
    least[0] = min(ne0, (int)get_local_size(0));
    least[1] = min(few, (int)get_local_size(0));
}
