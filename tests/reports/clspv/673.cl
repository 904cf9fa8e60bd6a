// clspv 673: mad_sat of vectors of ushort took no carry.
// in: ushort 0x016b 1 0xffff 300
// in: ushort 0x00ab 1 0xffff 200
// in: ushort 0x513f 0xfffe 0 5535
// out: ushort 0xffff 0xffff 0xffff 65535
// in: char -128 127 -128 11
// in: char -1 127 127 -11
// in: char -1 1 -128 -8
// out: char 127 127 -128 -128
kernel void test(global const ushort2 *a, global const ushort2 *b, global const ushort2 *c, global ushort2 *out,
    global const char4 *d, global const char4 *e, global const char4 *f, global char4 *bytes)
{
    out[0] = mad_sat(a[0], b[0], c[0]);
    out[1] = mad_sat(a[1], b[1], c[1]);
    *bytes = mad_sat(*d, *e, *f);
}
