// GROMACS 26, clRNG 17 and pyFAI 104: macros with any number of arguments were refused.
// out: int 6 10 3 12
#define SUM2(a, b) ((a) + (b))
#define SUM3(a, ...) ((a) + SUM2(__VA_ARGS__))
#define CALL(f, ...) f(__VA_ARGS__)
#define IGNORED(err, ...) (err)
#define NAMED(prefix, name, ...) prefix##name(__VA_ARGS__)

int of_four(int a, int b, int c, int d)
{
    return a + b + c + d;
}

kernel void test(global int *out)
{
    out[0] = SUM3(1, 2, 3);
    out[1] = CALL(of_four, 1, 2, 3, 4);
    out[2] = IGNORED(3, "text %d", 7);
    out[3] = NAMED(of_, four, 1, 2, 3, 6);
}
