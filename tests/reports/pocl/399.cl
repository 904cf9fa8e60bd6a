// pocl 399: dot products of real and complex numbers had no imaginary part.
// range: 4 by 4
// in: float 0 1 2 3 4 0 1 2 3 4 0 1
// in: float 0 3 1 2*2 1 2*3 0 2 2*1 2 2*3 2 0 2*1 3 2*2 3 1
// out: float 29 44 -14 72 98 0
// value: int 12
typedef union {
    struct {
        float real, imag;
    };
    float2 both;
} complex;

complex of_two(float real, float imag)
{
    complex z;
    z.real = real;
    z.imag = imag;
    return z;
}

complex added(complex a, complex b)
{
    return of_two(a.real + b.real, a.imag + b.imag);
}

complex product(complex a, complex b)
{
    return of_two(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
}

complex scaled(float a, complex b)
{
    return of_two(a * b.real, a * b.imag);
}

complex conjugate(complex a)
{
    return of_two(a.real, -a.imag);
}

complex total(local complex *parts, complex mine)
{
    int lane = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    parts[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    complex sum = parts[0];
    for (int i = 1; i < 4; i++)
        sum = added(sum, parts[i]);
    return sum;
}

kernel void test(global const float *a, global const complex *b, global complex *out, int n)
{
    local complex parts[4];
    complex mixed = of_two(0, 0), plain = of_two(0, 0), hermitian = of_two(0, 0);
    for (int i = get_local_id(0); i < n; i += get_local_size(0)) {
        mixed = added(mixed, scaled(a[i], b[i]));
        plain = added(plain, product(b[i], b[i]));
        hermitian = added(hermitian, product(conjugate(b[i]), b[i]));
    }
    mixed = total(parts, mixed);
    plain = total(parts, plain);
    hermitian = total(parts, hermitian);
    if (get_local_id(0) == 0) {
        out[0] = mixed;
        out[1] = plain;
        out[2] = hermitian;
    }
}
