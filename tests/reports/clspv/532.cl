// clspv 532: local memory of int4 as shorts and as bytes by casts.
// range: 4 by 4
// in: uchar 10 20 30 40 50 60
// local: 64
// out: uchar 4 3 2 1 40 30 20 10
kernel void test(constant const uchar *indices, local int4 *shared, global uchar *out)
{
    int x = get_local_id(0);
    ((local short *)shared)[x] = 3 - x;
    ((local uchar *)shared)[x + 40] = x + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    short i = ((local short *)shared)[x];
    uchar found = indices[i];
    ((local uchar *)shared)[x + 20] = found;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[x] = ((local uchar *)shared)[43 - x];
    out[x + 4] = ((local uchar *)shared)[x + 20];
}
