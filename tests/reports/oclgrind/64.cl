// oclgrind 64: an array of arrays in a structure was not aligned as its elements.
// out: ulong 21 8 56
struct nested {
    uchar a;
    ulong b[2][3][1];
};

kernel void test(global ulong *out)
{
    struct nested s = { 1, { { { 1 }, { 2 }, { 3 } }, { { 4 }, { 5 }, { 6 } } } };
    ulong sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 1; k++)
                sum += s.b[i][j][k];
    out[0] = sum;
    out[1] = (ulong)((private char *)&s.b[0] - (private char *)&s);
    out[2] = sizeof(s);
}
