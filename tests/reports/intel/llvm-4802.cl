// intel/llvm 4802: mul_hi of types narrower than int was wrong.
// range: 4
// in: char -128 127 -1 100 -128 2*127 3
// in: uchar 255 128 2 200 255 2 128 3
// in: short -32768 32767 -1 1234 -32768 2*32767 4321
// in: int -2147483648 2147483647 -1 123456789 -2147483648 2*2147483647 987654321
// in: long -9223372036854775808 9223372036854775807 -1 1234567890123456789 -9223372036854775808 2*9223372036854775807 876543210987654321
// in: ulong 18446744073709551615 9223372036854775808 3 1234567890123456789 18446744073709551615 2 9223372036854775808 9876543210987654321
// out: char 64 63 -1 1
// out: uchar 254 2*1 2
// out: short 16384 16383 -1 81
// out: int 1073741824 1073741823 -1 28389652
// out: long 4611686018427387904 4611686018427387903 -1 58663583029449642
// out: ulong 18446744073709551614 2*1 660998117878163465
// out: char -64 -66 -2 101
kernel void test(global const char *a, global const uchar *b, global const short *c, global const int *d, global const long *e,
                 global const ulong *f, global char *oa, global uchar *ob, global short *oc, global int *od, global long *oe,
                 global ulong *of, global char *om)
{
    int i = get_global_id(0);
    oa[i] = mul_hi(a[i], a[i + 4]);
    ob[i] = mul_hi(b[i], b[i + 4]);
    oc[i] = mul_hi(c[i], c[i + 4]);
    od[i] = mul_hi(d[i], d[i + 4]);
    oe[i] = mul_hi(e[i], e[i + 4]);
    of[i] = mul_hi(f[i], f[i + 4]);
    om[i] = mad_hi(a[i], a[i + 4], a[i]);
}
