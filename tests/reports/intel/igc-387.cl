// intel-graphics-compiler 387: a switch whose cases go back to labels before it crashed the compiler.
// range: 6
// in: int 0 1 2 3 4 5
// out: int 1 1201 2310 332100 2 332332100
struct state {
    uchar a;
    short b;
    uint c[3];
    ulong sums[2];
};

kernel void test(global const int *in, global int *out)
{
    int id = get_global_id(0), kind = in[id], steps = 0, trace = 0;
    struct state s = { 1, 2, { 3, 4, 5 }, { 0, 1 } }, copy;
zero:
    trace = trace * 10;
one:
    trace = trace * 10 + 1;
    copy = s;
    if (steps > 3)
        goto end;
    steps++;
    switch (kind) {
    case 1:
        kind = 100 + steps;
        trace = trace * 10 + 2;
        goto zero;
    case 2:
        kind = 7;
        trace = 23;
        goto one;
    case 3:
    case 5:
        trace = kind == 3 ? 3321 : 3323321;
        steps = 4;
        kind = 9;
        goto two;
    case 4:
        trace = (int)copy.c[0] - 1;
        break;
    case 7:
        trace = trace * 10;
        break;
two:
        trace = trace * 10;
    case 8:
        trace = trace * 10;
        break;
    default:
        break;
    }
end:
    out[id] = trace;
}
