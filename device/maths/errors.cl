// erf, erfc (16 ulp).

float MATHS pumice_erf(float x)
{
    float size = fabs(x), s = x * x;
    float p = -0x1.34832ep-11f;
    p = fma(p, s, 0x1.45a9e2p-8f);
    p = fma(p, s, -0x1.b63928p-6f);
    p = fma(p, s, 0x1.ce130ep-4f);
    p = fma(p, s, -0x1.8126ap-2f);
    p = fma(p, s, 0x1.20dd74p+0f);
    float near = p * size;
    // 1 - 2^-q; beyond 4 that is 1.
    float far = fmin(size, 4.0f);
    float q = -0x1.9064b6p-20f;
    q = fma(q, far, 0x1.9dd3a4p-15f);
    q = fma(q, far, -0x1.785a2ap-11f);
    q = fma(q, far, 0x1.96835ep-8f);
    q = fma(q, far, -0x1.2904a8p-5f);
    q = fma(q, far, 0x1.3ea67p-3f);
    q = fma(q, far, 0x1.d46c42p-1f);
    q = fma(q, far, 0x1.a0eff4p+0f);
    far = 1.0f - native_exp2(-q * far);
    return isnan(x) ? x : copysign(size < 0.92f ? near : far, x);
}

// (1 + 2 x) e^(x²) erfc x as a polynomial of (x - 2) / (x + 2), times e^(-x²) / (1 + 2 x).
float MATHS pumice_erfc(float x)
{
    // Beyond everything vanishes.
    float size = fmin(fabs(x), 10.06f);
    float inverse = 1.0f / (size + 2.0f);
    float q = (size - 2.0f) * inverse;
    float p = 0x1.cd802p-16f;
    p = fma(p, q, -0x1.7ef65ep-12f);
    p = fma(p, q, -0x1.495956p-10f);
    p = fma(p, q, 0x1.4e55eep-10f);
    p = fma(p, q, 0x1.1b344cp-7f);
    p = fma(p, q, -0x1.07a3ap-7f);
    p = fma(p, q, -0x1.bc10fp-5f);
    p = fma(p, q, 0x1.4ffb2ep-3f);
    p = fma(p, q, -0x1.54080cp-3f);
    p = fma(p, q, -0x1.7bf6p-4f);
    p = fma(p, q, 0x1.46e80ep+0f);
    // The square, and what its rounding lost.
    float square = size * size, lost = fma(size, size, -square);
    float value = p / fma(2.0f, size, 1.0f);
    // The exponential may be denormal where its product is not: a part of it comes after.
    float e = shifted_exp(-square, 24);
    value = fma(e * value, -lost, e * value) * 0x1p-24f;
    return isnan(x) ? x : x < 0.0f ? 2.0f - value : value;
}
