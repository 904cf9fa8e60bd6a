// pocl 1826: recursion crashed the compiler; it is not allowed, and the build must fail.
// refused: recurs
uint fibonacci(uint n)
{
    if (n < 2)
        return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

kernel void test(global uint *out)
{
    *out = fibonacci(6);
}
