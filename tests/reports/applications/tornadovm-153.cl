// TornadoVM 153: all memory is one buffer, with offsets of arrays in it and pointers made of integers.
// inout: ulong 0 0 0 48 80 4 0x4020000000000000 1 2 3 -> ulong 0 0 0 48 80 4 0x4020000000000000 1 2 3
// inout: long 0 16 5 6 7 8 -> long 0 16 50 60 70 80
// value: ulong 8
kernel void test(global uchar *frame_base, global uchar *heap, ulong frame_offset)
{
    global ulong *frame = (global ulong *)&frame_base[frame_offset];
    ulong array = (ulong)heap + frame[0] + 16;
    long count = (long)frame[4];
    for (int i = 0; i < 4 && count == 4; i++) {
        long offset = (long)i << 3;
        ulong address = array + offset;
        long x = *((global long *)address);
        *((global long *)address) = x * 10;
    }
}
