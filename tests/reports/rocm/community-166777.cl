// AMD community 166777: the or of two ands, of a word and of its complement, was wrong in the fourth step.
// in: uint 0x64636261 0x80 12*0x0 0x20 0x0
// out: uint 0xd6d117a6 0x34d10626 0xef609d95 0x34536424
kernel void test(constant uint16 *X, global uint4 *out)
{
    private uint a, b, c, d;
    private uint F;
    private uint16 x;
    private uint4 r = (uint4)(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
    a = r.s0;
    b = r.s1;
    c = r.s2;
    d = r.s3;
    x = X[0];
    F = (b & c) | (~b & d);
    a += F + (x.s0) + (0xd76aa478);
    a = rotate(a, (uint)7);
    a += b;
    F = (a & b) | (~a & c);
    d += F + (x.s1) + (0xe8c7b756);
    d = rotate(d, (uint)12);
    d += a;
    F = (d & a) | (~d & b);
    c += F + (x.s2) + (0x242070db);
    c = rotate(c, (uint)17);
    c += d;
    F = (c & d) | (~c & a);
    out[0].s0 = a;
    out[0].s1 = F;
    out[0].s2 = c;
    out[0].s3 = d;
}
