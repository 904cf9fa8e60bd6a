// PyBitmessage 37: the bytes of a sum of 64 bits, swapped by rotations and masks, were wrong.
// range: 4
// in: ulong 0x1 0xffffffffffffffff 0x123456789abcdef0 0x80
// out: ulong 0x9c9bcf367e6096a 0x7c9bcf367e6096a 0xf8a7798ee03c3e7c 0x88c9bcf367e6096a
// out: ulong 0x3ca7ca8485ae67bb 0x3aa7ca8485ae67bb 0x2b86871ffe049ccd 0xbba7ca8485ae67bb
#define SWAP64(n) \
    (((n) << 56) | (((n) & 0xff00) << 40) | (((n) & 0xff0000) << 24) | (((n) & 0xff000000) << 8) | \
     (((n) >> 8) & 0xff000000) | (((n) >> 24) & 0xff0000) | (((n) >> 40) & 0xff00) | ((n) >> 56))

ulong swapped(ulong x)
{
    ulong y = rotate(x, 32UL);
    y = ((y << 8) & 0xff00ff00ff00ff00UL) | ((y >> 8) & 0x00ff00ff00ff00ffUL);
    return ((y & 0x0000ffff0000ffffUL) << 16) | ((y >> 16) & 0x0000ffff0000ffffUL);
}

kernel void test(global const ulong *in, global ulong *out, global ulong *again)
{
    int i = get_global_id(0);
    ulong a = in[i];
    out[i] = SWAP64(a + 0x6a09e667f3bcc908UL);
    again[i] = swapped(a + 0xbb67ae8584caa73bUL);
}
