// clang 86831: vload2 from a private array, cast to its elements and moved by one, crashed the compiler.
// range: 4
// in: char 1 4 7 10 13 16 19 22 25 28 31 34 37 40 43 46 49 52 55 58 61 64 67 70 73 76 79 82 85 88 91 94
// in: uint 0 3 1 2
// in: uint 0 1 0 1
// out: char 1 4 22 25 7 10 16 19
kernel void test(global const char2 *in, global const uint *offsets, global const uint *moved, global char2 *out)
{
    private char2 storage[16];
    int id = get_global_id(0);
    for (int i = 0; i < 16; i++)
        storage[i] = in[i];
    out[id] = vload2(offsets[id], ((private char *)storage) + moved[id]);
}
