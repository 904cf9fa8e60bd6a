// SPIRV-LLVM-Translator 1626: conditions of vectors, hoisted out of a loop by the optimizer, became frozen values.
// range: 4
// in: float 1 -1 2 nan -1 -2 -3 -4 5 6 7 8 0 0 0 1
// value: int 3
// out: float 4 -2 8 0 -2 -4 -6 -8 20 24 28 32 0 0 0 4
kernel void test(global const float4 *in, int count, global float4 *out)
{
    size_t i = get_global_id(0);
    float4 v = in[i];
    float4 sum = 0.0f;
    for (int step = 0; step <= count; step++) {
        int4 positive = isgreater(v, (float4)(0.0f));
        float4 gain = select((float4)(0.5f), (float4)(1.0f), positive);
        if (any(isnan(v)) && step < 1)
            v = select(v, (float4)(0.0f), isnan(v));
        sum += v * gain;
    }
    out[i] = sum;
}
