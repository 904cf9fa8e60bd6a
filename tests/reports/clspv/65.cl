// clspv 65: a choice between vectors by a scalar made an invalid module.
// value: int 0
// value: int 0x100
// out: float 3 4 1 2
// out: char 1 2 3 -1 -2 -3 -4
kernel void test(int no, int yes, global float2 *a, global char *b)
{
    a[0] = no ? (float2)(1.0f, 2.0f) : (float2)(3.0f, 4.0f);
    a[1] = yes ? (float2)(1.0f, 2.0f) : (float2)(3.0f, 4.0f);
    char3 three = yes ? (char3)(1, 2, 3) : (char3)(9, 9, 9);
    char4 four = (char)yes ? (char4)(9, 9, 9, 9) : (char4)(-1, -2, -3, -4);
    vstore3(three, 0, b);
    vstore4(four, 0, b + 3);
}
