// OpenCL-Docs 735: choices in C++ between scalars, vectors, and references.
// options: -cl-std=CLC++2021
// in: int -1 0 1 -5
// out: int 10 2 3 40
// out: int 7 1 2 9
// out: float 1.5 2
kernel void test(global const int4 *c, global int4 *vectors, global int *scalars, global float *floats)
{
    int4 a = (int4)(10, 20, 30, 40), b = (int4)(1, 2, 3, 4);
    *vectors = *c ? a : b;
    int x = 1, y = 2;
    (c->x ? x : y) = 7;
    scalars[0] = x;
    (c->y ? y : x) -= 6;
    scalars[1] = x;
    scalars[2] = y;
    scalars[3] = c->z == 1 && !c->y ? 9 : 0;
    auto mixed = c->y ? 1 : 1.5f;
    floats[0] = mixed;
    floats[1] = c->w < 0 ? 2 : 3.5f;
}
