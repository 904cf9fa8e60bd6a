// log, log2, log10 (3 ulp), log1p (2 ulp), asinh, acosh (4 ulp), atanh (5 ulp).

// The bits of the root of 1/2: significands are taken from there on to that of 2.
#define ROOT_OF_HALF 0x3f3504f3

// ln(1 + f) for 1 + f between the roots of 1/2 and 2
INLINED float logarithm(float f)
{
    float p = 0x1.20373cp-4f;
    p = fma(p, f, -0x1.d77b1ap-4f);
    p = fma(p, f, 0x1.de3896p-4f);
    p = fma(p, f, -0x1.fcbfc4p-4f);
    p = fma(p, f, 0x1.23d506p-3f);
    p = fma(p, f, -0x1.555c8cp-3f);
    p = fma(p, f, 0x1.999d46p-3f);
    p = fma(p, f, -0x1.fffff8p-3f);
    p = fma(p, f, 0x1.555554p-2f);
    return fma(fma(p, f, -0.5f), f * f, f);
}

// x = 2^e (1 + f), of a positive normal number
INLINED float significand(float x, float *e)
{
    int exponent = (as_int(x) - ROOT_OF_HALF) & 0xff800000;
    *e = (float)exponent * 0x1p-23f;
    return as_float(as_int(x) - exponent) - 1.0f;
}

// The logarithm of what is_positive_normal() is not said of, but for denormal numbers.
INLINED float special(float x)
{
    return x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;
}

// e_factor e + f_factor ln(1 + f), where x = 2^e (1 + f)
INLINED float any_log(float x, float e_factor, float f_factor)
{
    float lift = 0.0f;
    if (!is_positive_normal(x)) {
        if (!(x > 0.0f && x < 1.0f))
            return special(x);
        x *= 0x1p25f;
        lift = -25.0f;
    }
    float e, f = significand(x, &e);
    return fma(e + lift, e_factor, logarithm(f) * f_factor);
}

float MATHS pumice_log(float x)
{
    return any_log(x, 0x1.62e43p-1f, 1.0f);
}

float MATHS pumice_log2(float x)
{
    return any_log(x, 1.0f, 0x1.715476p+0f);
}

float MATHS pumice_log10(float x)
{
    return any_log(x, 0x1.344136p-2f, 0x1.bcb7b2p-2f);
}

float MATHS pumice_log1p(float x)
{
    if (!(x > -1.0f && x < 0x1p60f) || x == 0.0f) {
        if (x >= 0x1p60f)
            return pumice_log(x);
        return x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
    }
    // 1 + x = 2^e (1 + f), where 1 + x itself need not be exact
    int exponent = (as_int(1.0f + x) - ROOT_OF_HALF) & 0xff800000;
    float scale = as_float(EXPONENT_OF_ONE - exponent);
    float f = fma(x, scale, scale - 1.0f);
    return fma((float)exponent * 0x1p-23f, 0x1.62e43p-1f, logarithm(f));
}

float MATHS pumice_asinh(float x)
{
    float size = fabs(x);
    // Beyond, x² may be infinite, and 1 does not count.
    bool far = size > 0x1p30f;
    float root = sqrt(fma(size, size, 1.0f));
    float near = size + size * size / (root + 1.0f);
    float value = pumice_log1p(far ? size : near);
    return copysign(far ? value + 0x1.62e43p-1f : value, x);
}

float MATHS pumice_acosh(float x)
{
    float t = x - 1.0f;
    bool far = x > 0x1p30f;
    float near = t + sqrt(fma(t, t, 2.0f * t));
    float value = pumice_log1p(far ? t : near);
    return x < 1.0f ? NAN : far ? value + 0x1.62e43p-1f : value;
}

float MATHS pumice_atanh(float x)
{
    float size = fabs(x);
    return copysign(0.5f * pumice_log1p(2.0f * size / (1.0f - size)), x);
}
