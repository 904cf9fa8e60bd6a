// SPIRV-LLVM-Translator 711: loops that set arrays to zero, whose length is known when the kernel runs.
// range: 3
// in: int 0 3 8
// out: int 8 5 0
// inout: int 5 6 7 8 9 -> int 0 0 0 8 9
kernel void test(global const int *lengths, global int *left, global int *data)
{
    int length = lengths[get_global_id(0)];
    int mine[8];
    for (int i = 0; i < 8; i++)
        mine[i] = 1;
    for (int i = 0; i < length; i++)
        mine[i] = 0;
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += mine[i];
    left[get_global_id(0)] = sum;
    if (length == 3)
        for (int i = 0; i < length; i++)
            data[i] = 0;
}
