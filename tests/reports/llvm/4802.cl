// intel llvm 4802: mul_hi and mad_hi of the narrow types.
// in: char -128 127 -1 100
// in: char -128 -128 1 3
// out: char 64 -64 -1 1
// out: char 63 -65 -2 0
// in: uchar 255 128 16 1
// out: uchar 254 64 1 0
// in: short -32768 32767 -1 300
// out: short 16384 16383 0 1
// in: ushort 65535 256 255 1
// out: ushort 65534 1 0 0
kernel void test(global const char4 *a, global const char4 *b, global char4 *hi, global char4 *mad,
    global const uchar4 *c, global uchar4 *uhi, global const short4 *d, global short4 *shi, global const ushort4 *e, global ushort4 *ushi)
{
    *hi = mul_hi(*a, *b);
    *mad = mad_hi(*a, *b, (char4)(-1));
    *uhi = mul_hi(*c, *c);
    *shi = mul_hi(*d, *d);
    *ushi = mul_hi(*e, *e);
}
