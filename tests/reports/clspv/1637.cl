// clspv 1637: a structure with padding, copied into a union and out of it in other pieces, was an invalid module.
// value: ulong 1
// value: ulong 2
// inout: uchar 8*0 8*0xee 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 16*0xdd -> uchar 8*0 8*0xee 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 2 3 4 5 6 7 8 9 7*0xdd
struct piece {
    int a;
    uchar b[5];
} __attribute__((aligned(8)));

typedef union {
    struct piece s;
    struct {
        long word;
        uchar extra;
    } raw;
} view;

kernel void test(ulong from, ulong to, global void *buffer)
{
    global uchar *base = (global uchar *)buffer + from * 8;
    global struct piece *source = (global struct piece *)(base + 8);
    view value;
    value.s = *source;
    global struct piece *target = (global struct piece *)buffer + to;
    global uchar *byte = (global uchar *)target;
    *(global long *)byte = value.raw.word;
    byte[8] = value.raw.extra;
}
