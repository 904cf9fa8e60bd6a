// clspv 1418: swizzles of vectors of bytes, read and written, in all their spellings.
// in: char 1 2 3 4
// out: char 1 2 3 4 4 3 2 1 3 4 1 2 1 3 2 4 2 4 1 3 9 2 8 4
kernel void test(global const char4 *in, global char4 *out)
{
    char4 v = *in;
    out[0].xy = v.lo;
    out[0].zw = v.hi;
    out[1] = v.s3210;
    out[2].lo = v.hi;
    out[2].hi = v.lo;
    out[3].even = v.lo;
    out[3].odd = v.hi;
    out[4] = (char4)(v.odd, v.even);
    out[5] = v;
    out[5].zx = (char2)(8, 9);
}
