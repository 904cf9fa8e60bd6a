// llvm 54947: a material's colour, clamped to between zero and one, was not so under -cl-fast-relaxed-math.
// options: -cl-fast-relaxed-math
// range: 3
// in: float 2 0.5 -1 0.25 1 0 0.75 1.5 3
// out: float 1 0.5 0 0.25 1 0 0.75 1 1
float3 clamped(float3 s)
{
    return clamp(s, 0.0f, 1.0f);
}

float3 material(const float3 fixed, const float3 kd, int *event, float *pdf)
{
    if (fabs(fixed.z) < 1e-4f)
        return (float3)(0.0f, 0.0f, 0.0f);
    *pdf = fabs(fixed.z * M_1_PI_F);
    *event = 1 | 4;
    return clamped(kd);
}

kernel void test(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    int event = 0;
    float pdf = 0.0f;
    float3 colour = material((float3)(0.0f, 0.6f, 0.8f), vload3(i, in), &event, &pdf);
    vstore3(event == 5 && pdf > 0.25f ? colour : (float3)(9.0f), i, out);
}
