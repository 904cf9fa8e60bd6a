// intel-graphics-compiler 405: 128 bits of a long long ended in a crash, and not in an error that says so.
// refused: `long long`
kernel void test(global unsigned long long *memory, unsigned int n)
{
    unsigned long long all = 0;
    for (unsigned int i = 0; i < n; i++)
        all += memory[i];
    memory[0] = all;
}
