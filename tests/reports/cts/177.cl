// OpenCL-Docs 177: a component counts as true in a logical operation if it is not zero, in a choice if its highest bit is set.
// in: int 1 0 -5 8
// in: int 0 0 2 0
// out: int -1 0 -1 -1
// out: int 0 0 -1 0
// out: int 0 -1 0 0
// out: int 20 20 10 20
// out: int 20 20 10 20
// out: int -1 -1 1 1 0 0
kernel void test(global const int4 *a, global const int4 *b, global int4 *either, global int4 *both, global int4 *neither,
    global int4 *chosen, global int4 *selected, global int2 *casts)
{
    *either = *a || *b;
    *both = *a && *b;
    *neither = !*a;
    *chosen = *a ? (int4)10 : (int4)20;
    *selected = select((int4)20, (int4)10, *a);
    // A vector of a bool is -1 in each component, a bool as a component is 1.
    casts[0] = (int2)(bool)a->x;
    casts[1] = (int2)((bool)a->x, (bool)a->x);
    casts[2] = (int2)(bool)a->y;
}
