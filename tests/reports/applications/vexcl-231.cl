// VexCL 231: functions that return vectors, in loops whose bounds are arguments, crashed the compiler.
// range: 3
// in: float 0 1 2 3 4 5 6 7 8 9
// value: ulong 10
// out: float 18 126 12 66 15 93
float2 with_square(float x)
{
    return (float2)(x, x * x);
}

kernel void test(global const float *in, ulong n, global float2 *out)
{
    float2 sum = (float2)0;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        sum += with_square(in[i]);
    out[get_global_id(0)] = sum;
}
