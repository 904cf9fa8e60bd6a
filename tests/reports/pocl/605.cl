// pocl 605: vectors were stored where only their elements are aligned, as if they were aligned.
// in: long 1 2 3 4
// inout: long 9*-1 -> long -1 1 2 3 4 4 3 2 1
// inout: short 10*7 -> short 7 1 2 3 4 1 2 3 7 7
kernel void test(global const long4 *in, global long *out, global short *shorts)
{
    vstore4(*in, 0, out + 1);
    vstore4(vload4(0, out + 1).wzyx, 1, out + 1);
    short4 s = convert_short4(*in);
    vstore4(s, 0, shorts + 1);
    vstore3(s.xyz, 1, shorts + 2);
}
