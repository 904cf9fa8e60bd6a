// oclgrind: a function that changed its parameter, a union, changed the caller's.
// out: uint 42 42
union either {
    uint a;
    uint b;
};

uint changed(union either value)
{
    uint before = value.a;
    value.b = 777;
    return before;
}

kernel void test(global uint *out)
{
    union either u = { 42 };
    out[0] = changed(u);
    out[1] = u.b;
}
