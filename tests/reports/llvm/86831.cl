// llvm 86831: a pointer to private vectors made one to their elements, and moved, crashed the compiler.
// range: 4
// in: char 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// in: uint 0 1 2 3
// in: uint 0 1 2 1
// out: char 0 1 3 4 6 7 7 8
kernel void test(global const char2 *src, global const uint *offsets, global const uint *moved, global char2 *results)
{
    private char2 storage[8];
    int i = get_global_id(0);
    for (int j = 0; j < 8; j++)
        storage[j] = src[j];
    results[i] = vload2(offsets[i], (private char *)storage + moved[i]);
}
