// LuxMark 9: a quotient by zero, cut to 1, spoiled what it was multiplied by.
// range: 4
// in: float 0.25 1 3 -2
// value: float 0
// out: float 1 1 1 -inf
// out: float 5 5 5 -inf
kernel void test(global const float *in, float divisor, global float *cut, global float *weighted)
{
    int i = get_global_id(0);
    cut[i] = min(1.0f, in[i] / divisor);
    weighted[i] = 5.0f * min(1.0f, in[i] / divisor);
}
