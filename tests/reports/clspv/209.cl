// clspv 209: logical operators of vectors, which give -1 for true, joined bits of booleans.
// in: float 1 2 3 nan
// in: float 1 1 4 4
// in: float 5 5 5 5
// out: int -1 0 -1 0
// out: int -1 -1 -1 -1
// out: int 0 -1 0 -1
// out: int 0 -1 -1 0
kernel void test(global const float4 *a, global const float4 *b, global const float4 *c, global int4 *both, global int4 *either, global int4 *none, global int4 *unlike)
{
    int4 ab = *a <= *b;
    int4 cb = *c > *b;
    *both = ab && cb;
    *either = ab || cb;
    *none = !ab;
    *unlike = (int4)(0, 2, -7, 0) && (int4)(1, 1, 4, 0);
}
