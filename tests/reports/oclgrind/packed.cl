// oclgrind: a packed structure by value was read as if it had padding.
// value: uchar 1 2 0 0 2 9 8
// out: int 0x02000002 -8
struct __attribute__((packed)) unpadded {
    char a;
    int b;
    char c;
    uchar d;
};

kernel void test(struct unpadded x, global int *out)
{
    out[0] = x.b;
    out[1] = -(int)x.d;
}
