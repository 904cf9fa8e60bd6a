// exp, exp2, exp10 (3 ulp), sinh, cosh (4 ulp), tanh (5 ulp).

// 2^(n + shift) of t = INTEGERS + n, for a normal result.
INLINED float power_of(float t, int shift)
{
    return as_float((as_int(t) << EXPONENT_BITS) + EXPONENT_OF_ONE + (shift << EXPONENT_BITS));
}

// v 2^(n + shift) of t = INTEGERS + n, where v is about one. In two steps: the power may be too great, or no normal
// number.
INLINED float scaled(float v, float t, int shift)
{
    bool down = t < INTEGERS;
    int exponent = (as_int(t) << EXPONENT_BITS) + (down ? (shift + 64) << EXPONENT_BITS : (shift - 64) << EXPONENT_BITS);
    return as_float(as_int(v) + exponent) * (down ? 0x1p-64f : 0x1p64f);
}

// For devices with a precise Exp2: a whole number near x factor, as INTEGERS + n. It stays among the exponents of
// normal numbers; what is beyond is left to the rest, of which Exp2 makes infinity or zero.
INLINED float whole_part(float x, float factor)
{
    float place = clamp(fma(x, factor / 252, 0.5f), 0.0f, 1.0f);
    return fma(place, 252.0f, INTEGERS - 126);
}

// e^r for |r| <= ln 2 / 2
INLINED float exponential(float r)
{
    float p = 0x1.6cb71ap-10f;
    p = fma(p, r, 0x1.121eb6p-7f);
    p = fma(p, r, 0x1.55556ep-5f);
    p = fma(p, r, 0x1.5554cap-3f);
    p = fma(p, r, 0x1p-1f);
    return fma(p, r * r, r) + 1.0f;
}

// e^x 2^shift, denormal results included.
INLINED float shifted_exp(float x, int shift)
{
    const float log2_e = 0x1.715476p+0f, log2_e_rest = 0x1.4ae0cp-26f;
    if (pumice_exp2_is_precise()) {
        float t = whole_part(x, log2_e), n = t - INTEGERS;
        float r = fma(x, log2_e_rest, fma(x, log2_e, -n));
        return native_exp2(r) * power_of(t, shift);
    }
    float near = fmin(fmax(x, -104.0f), 91.0f);
    float t = fma(near, log2_e, INTEGERS), n = t - INTEGERS;
    float r = fma(n, -0x1.62e43p-1f, near);
    r = fma(n, 0x1.05c61p-29f, r);
    float value = scaled(exponential(r), t, shift);
    return isnan(x) ? x : value;
}

float MATHS pumice_exp(float x)
{
    return shifted_exp(x, 0);
}

float MATHS pumice_exp2(float x)
{
    if (pumice_exp2_is_precise()) {
        // The square of its half where that would be denormal.
        bool low = x < -126.0f;
        float value = native_exp2(low ? 0.5f * x : x);
        return low ? value * value : value;
    }
    float near = fmin(fmax(x, -151.0f), 129.0f);
    float t = near + INTEGERS, r = near - (t - INTEGERS);
    float p = 0x1.42aa5ep-13f;
    p = fma(p, r, 0x1.5f1096p-10f);
    p = fma(p, r, 0x1.3b2c4p-7f);
    p = fma(p, r, 0x1.c6af7ap-5f);
    p = fma(p, r, 0x1.ebfbdep-3f);
    p = fma(p, r, 0x1.62e43p-1f);
    float value = scaled(fma(p, r, 1.0f), t, 0);
    return isnan(x) ? x : value;
}

float MATHS pumice_exp10(float x)
{
    const float log2_10 = 0x1.a934fp+1f, log2_10_rest = 0x1.2f346ep-24f;
    if (pumice_exp2_is_precise()) {
        float t = whole_part(x, log2_10), n = t - INTEGERS;
        float r = fma(x, log2_10_rest, fma(x, log2_10, -n));
        return native_exp2(r) * power_of(t, 0);
    }
    float near = fmin(fmax(x, -46.0f), 39.0f);
    float t = fma(near, log2_10, INTEGERS), n = t - INTEGERS;
    float r = fma(n, -0x1.344136p-2f, near);
    r = fma(n, 0x1.ec10cp-27f, r);
    float value = scaled(exponential(r * 0x1.26bb1cp+1f), t, 0);
    return isnan(x) ? x : value;
}

float MATHS pumice_tanh(float x)
{
    float size = fabs(x), s = x * x;
    float p = -0x1.8f2868p-8f;
    p = fma(p, s, 0x1.57eddap-6f);
    p = fma(p, s, -0x1.b92222p-5f);
    p = fma(p, s, 0x1.110e04p-3f);
    p = fma(p, s, -0x1.555552p-2f);
    float near = fma(p * s, size, size);
    float far = fma(-2.0f, 1.0f / (pumice_exp(2.0f * size) + 1.0f), 1.0f);
    return copysign(size < 0.625f ? near : far, x);
}

float MATHS pumice_sinh(float x)
{
    float size = fabs(x), s = x * x;
    float p = 0x1.720e84p-19f;
    p = fma(p, s, 0x1.a036dap-13f);
    p = fma(p, s, 0x1.1110c4p-7f);
    p = fma(p, s, 0x1.555556p-3f);
    float near = fma(p * s, size, size);
    // A quarter of e^x: that itself is infinite before its half is.
    float e = shifted_exp(size, -2);
    float far = fma(2.0f, e, -0.125f / e);
    return copysign(size < 1.0f ? near : far, x);
}

float MATHS pumice_cosh(float x)
{
    float e = shifted_exp(fabs(x), -2);
    return fma(2.0f, e, 0.125f / e);
}
