// llvm 72859: a structure by value as a kernel's argument crashed the compiler.
// value: int 0x3fc00000 0x000000fe 77
// out: int 77 -2
// out: float 1.5
typedef struct {
    float a;
    char b;
    int c;
} parameters;

kernel void test(parameters x, global int *ints, global float *f)
{
    ints[0] = x.c;
    ints[1] = x.b;
    *f = x.a;
}
