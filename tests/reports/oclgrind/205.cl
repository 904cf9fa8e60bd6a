// oclgrind 205: two shifts and an or of them became a funnel shift that was unknown.
// range: 4
// in: uint 1 7 16 31
// out: uint 0x2468acf0 0x1a2b3c09 0x56781234 0x91a2b3c
// out: ulong 0x2468acf13579bde0 0x1a2b3c4d5e6f7809 0x56789abcdef01234 0x4d5e6f78091a2b3c
// out: ushort 0x2468 0x1a09 0x1234 0x91a
// out: uchar 0x39 0x4e 0x9c 0x4e
// out: uint 0xbd5b7dde 0x56df7789 0xbeef1234 0x891a2b3c
kernel void test(global const uint *counts, global uint *a, global ulong *b, global ushort *c, global uchar *d, global uint *e)
{
    int i = get_global_id(0);
    uint n = counts[i];
    uint x = 0x12345678 + (get_global_id(1) << 1);
    ulong y = 0x123456789abcdef0UL + get_global_id(1);
    ushort z = 0x1234 + get_global_id(1);
    uchar t = 0x9c + get_global_id(1);
    uint u = 0xdeadbeef + get_global_id(1);
    a[i] = (x << n) | (x >> (32 - n));
    b[i] = (y << n) | (y >> (64 - n));
    c[i] = (z << (n & 15)) | (z >> ((16 - n) & 15));
    d[i] = (t << (n & 7)) | (t >> ((8 - n) & 7));
    e[i] = (u << n) | (x >> (32 - n));
}
