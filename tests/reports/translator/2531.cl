// SPIRV-LLVM-Translator 2531: an array of numbers in the middle of an expression of C++.
// options: -cl-std=CLC++2021
// range: 5
// out: float 0.25 4.5 -1 2.5 1
struct fit {
    float c[5];
    constexpr float at(int i) const { return c[i]; }
};

constexpr fit made(float scale)
{
    fit f{};
    for (int i = 0; i < 5; i++)
        f.c[i] = scale * (const float[5]){ 0.125f, 2.25f, -0.5f, 1.25f, 0.5f }[i];
    return f;
}

kernel void test(global float *out)
{
    const fit doubled = made(2.0f);
    out[get_global_id(0)] = doubled.at(get_global_id(0));
}
