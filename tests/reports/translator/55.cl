// SPIR 55: select of integers, floats and doubles by integers of their width, of which the highest bit decides.
// in: int 0x40000000 0x80000000 -1 0
// in: int 1 2 3 4
// in: int 5 6 7 8
// out: int 1 6 7 4
// out: uchar 1 20 1 20
// out: float 1 6 7 4
// out: int 5 6 1 5
kernel void test(global const int4 *c, global const int4 *a, global const int4 *b, global int4 *ints, global uchar4 *bytes, global float4 *floats,
    global int *scalars)
{
    *ints = select(*a, *b, *c);
    *bytes = select((uchar4)1, (uchar4)20, (char4)(127, -128, 0, -1));
    *floats = select(convert_float4(*a), convert_float4(*b), as_uint4(*c));
    // Of scalars any bit will do.
    scalars[0] = select(a->x, b->x, c->x);
    scalars[1] = select(a->y, b->y, 1u);
    scalars[2] = select(a->x, b->x, 0);
    scalars[3] = c->x ? b->x : a->x;
}
