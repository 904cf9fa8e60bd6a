// pow, powr, pown (16 ulp), cbrt (2 ulp), fmod (0 ulp).

// x^(y + y_rest) of a positive finite number. Its logarithm is taken with some 30 bits: a power of 128 multiplies
// its error by as much.
float pumice_power(float x, float y, float y_rest)
{
    float lift = 0.0f;
    if (x < 0x1p-126f) {
        x *= 0x1p24f;
        lift = -24.0f;
    }
    int exponent = (as_int(x) - 0x3f3504f3) & 0xff800000;
    float e = (float)exponent * 0x1p-23f + lift, f = as_float(as_int(x) - exponent) - 1.0f;
    // log x = 2 artanh q, q = f / (f + 2)
    float inverse = 1.0f / (f + 2.0f);
    float q = f * inverse;
    float q_rest = inverse * fma(q, -f, fma(q, -2.0f, f));
    float s = q * q;
    float p = 0x1.558c46p-2f;
    p = fma(p, s, 0x1.a5f2aep-2f);
    p = fma(p, s, 0x1.2776b2p-1f);
    p = fma(p, s, 0x1.ec709ep-1f);
    const float factor = 0x1.715476p+1f, factor_rest = 0x1.4ae0cp-25f;
    float log_f = q * factor;
    float log_rest = fma(q, factor, -log_f) + fma(q_rest, factor, q * factor_rest);
    log_rest = fma(p * s, q, log_rest);
    float log_x = e + log_f;
    log_rest += e - log_x + log_f;
    float z = y * log_x;
    float z_rest = fma(y, log_x, -z);
    z_rest = fma(y, log_rest, z_rest);
    z_rest = fma(y_rest, log_x, z_rest);
    bool far = fabs(z) > 200.0f;
    z = clamp(z, -200.0f, 200.0f);
    z_rest = far ? 0.0f : z_rest;
    float n = rint(z + z_rest);
    float r = z - n + z_rest;
    p = 0x1.42aa5ep-13f;
    p = fma(p, r, 0x1.5f1096p-10f);
    p = fma(p, r, 0x1.3b2c4p-7f);
    p = fma(p, r, 0x1.c6af7ap-5f);
    p = fma(p, r, 0x1.ebfbdep-3f);
    p = fma(p, r, 0x1.62e43p-1f);
    return ldexp(fma(p, r, 1.0f), (int)n);
}

// A power of a number that is zero or infinite, to a power above or below zero.
INLINED float edge(float size, bool above, bool odd, float x)
{
    float value = (size == 0.0f) == above ? 0.0f : INFINITY;
    return odd ? copysign(value, x) : value;
}

float MATHS pumice_pow(float x, float y)
{
    float size = fabs(x);
    bool finite_y = as_uint(y) << 1 < INFINITY_BITS << 1;
    float value = pumice_power(size, y, 0.0f);
    if (is_positive_normal(x) && finite_y)
        return value;
    if (y == 0.0f || x == 1.0f)
        return 1.0f;
    if (isnan(x) || isnan(y))
        return NAN;
    if (!finite_y)
        return size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
    bool whole = trunc(y) == y, odd = whole && fabs(y) < 0x1p24f && (int)y & 1;
    if (size == 0.0f || size == INFINITY)
        return edge(size, y > 0.0f, odd, x);
    return x > 0.0f ? value : !whole ? NAN : odd ? -value : value;
}

float MATHS pumice_powr(float x, float y)
{
    bool finite_y = as_uint(y) << 1 < INFINITY_BITS << 1;
    float value = pumice_power(x, y, 0.0f);
    if (is_positive_normal(x) && finite_y)
        return value;
    if (x < 0.0f || isnan(x) || isnan(y))
        return NAN;
    if (x == 0.0f || x == INFINITY)
        return y == 0.0f ? NAN : edge(x, y > 0.0f, false, x);
    if (!finite_y)
        return x == 1.0f ? NAN : (x > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
    return value;
}

// x^n by squares, n <= 8
INLINED float small_power(float x, uint n)
{
    float value = 1.0f;
    for (; n != 0; n >>= 1) {
        value *= n & 1 ? x : 1.0f;
        x *= x;
    }
    return value;
}

float MATHS pumice_pown(float x, int n)
{
    if (abs(n) <= 8) {
        float value = small_power(x, abs(n));
        value = n < 0 ? 1.0f / value : value;
        if (is_positive_normal(fabs(value)) && fabs(value) < 0x1p126f)
            return value;
    }
    float size = fabs(x), y = (float)n;
    // What the float cannot hold of the power.
    float y_rest = (float)(int)((uint)n - (uint)(y == 0x1p31f ? 0x80000000u : (uint)(int)y));
    float value = pumice_power(size, y, y_rest);
    if (is_positive_normal(x))
        return value;
    if (n == 0)
        return 1.0f;
    if (isnan(x))
        return x;
    bool odd = n & 1;
    if (size == 0.0f || size == INFINITY)
        return edge(size, n > 0, odd, x);
    return x < 0.0f && odd ? -value : value;
}

float MATHS pumice_cbrt(float x)
{
    float size = fabs(x), scale = 1.0f;
    if (!is_positive_normal(size)) {
        if (!(size > 0.0f && size < 1.0f))
            return x;
        size *= 0x1p24f;
        scale = 0x1p-8f;
    }
    // Newton's step doubles the bits of the first guess.
    float guess = native_exp2(native_log2(size) * 0x1.555556p-2f);
    float root = fma(fma(size, 1.0f / (guess * guess), -guess), 0x1.555556p-2f, guess);
    return copysign(root * scale, x);
}

// x mod y of positive numbers, x / y < 2^22: the quotient is wrong by one at most, and what the product leaves exact.
INLINED float near_mod(float x, float y)
{
    float quotient = trunc(x / y);
    float rest = fma(-quotient, y, x);
    quotient += rest < 0.0f ? -1.0f : rest >= y ? 1.0f : 0.0f;
    return fma(-quotient, y, x);
}

// |x| mod |y| of finite numbers: in steps of 21 bits of the quotient, from the greatest.
float pumice_far_mod(float rest, float y)
{
    while (rest >= y * 0x1p22f)
        rest = near_mod(rest, ldexp(y, ilogb(rest) - ilogb(y) - 21));
    return near_mod(rest, y);
}

float MATHS pumice_fmod(float x, float y)
{
    float rest = fabs(x), size = fabs(y);
    if (!(rest < INFINITY && size > 0.0f))
        return NAN;
    if (size == INFINITY)
        return x;
    if (size < 0x1p-100f) {
        // Divisors that small need not be divided by precisely (Vulkan, precision of OpFDiv): 2^64 as great, both.
        float great = size * 0x1p64f;
        rest = pumice_far_mod(rest, great) * 0x1p64f;
        return copysign(pumice_far_mod(rest, great) * 0x1p-64f, x);
    }
    rest = rest < size * 0x1p22f ? near_mod(rest, size) : pumice_far_mod(rest, size);
    return copysign(rest, x);
}
