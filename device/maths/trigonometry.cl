// sin, cos (4 ulp), tan (5 ulp), asin, acos (4 ulp), atan (5 ulp), atan2 (6 ulp).

#define TWO_OVER_PI 0x1.45f306p-1f
#define HALF_PI 0x1.921fb6p+0f
#define HALF_PI_REST -0x1.777a5cp-25f

// 2 / pi in binary, word by word.
static constant uint two_over_pi[] = { 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041 };

// Of a finite number of at least four: x - n pi / 2, and n (of which the last two bits count). The product of the
// significand with those 96 bits of 2 / pi that matter (Payne and Hanek, 1983).
int pumice_reduce_any(float x, float *rest)
{
    uint bits = as_uint(x), significand = bits << 8 | 0x80000000;
    uint exponent = (bits >> 23 & 0xff) - 128, word = exponent >> 5, shift = exponent & 31;
    uint high = two_over_pi[word], middle = two_over_pi[word + 1], low = two_over_pi[word + 2];
    if (shift != 0) {
        high = high << shift | middle >> (32 - shift);
        middle = middle << shift | low >> (32 - shift);
        low = low << shift | two_over_pi[word + 3] >> (32 - shift);
    }
    ulong product = (ulong)significand * middle + mul_hi(significand, low) + ((ulong)(significand * high) << 32);
    // The nearest quarter, and what is left in units of 2^-62 of one.
    int n = (int)(product >> 62) + (int)(product >> 61 & 1);
    long left = (long)(product << 2) >> 2;
    float r = (float)left * (HALF_PI * 0x1p-62f);
    *rest = as_int(x) < 0 ? -r : r;
    return as_int(x) < 0 ? -n : n;
}

// x - n pi / 2, and n; NaN of infinity and NaN.
INLINED int reduce(float x, float *rest)
{
    if (!(fabs(x) <= 105615.0f)) {
        if (!(fabs(x) < INFINITY)) {
            *rest = NAN;
            return 0;
        }
        return pumice_reduce_any(x, rest);
    }
    float t = fma(x, TWO_OVER_PI, INTEGERS), n = t - INTEGERS;
    float r = fma(n, -0x1.921fbp+0f, x);
    r = fma(n, -0x1.5110b4p-22f, r);
    *rest = fma(n, -0x1.846988p-48f, r);
    return as_int(t);
}

// For |x| <= pi / 4; s = x². The product leaves zero its sign.
INLINED float sine(float x, float s)
{
    float p = -0x1.9ab216p-13f;
    p = fma(p, s, 0x1.110be2p-7f);
    p = fma(p, s, -0x1.555552p-3f);
    return fma(p, s, 1.0f) * x;
}

INLINED float cosine(float s)
{
    float p = 0x1.9bc672p-16f;
    p = fma(p, s, -0x1.6c129cp-10f);
    p = fma(p, s, 0x1.555554p-5f);
    return fma(fma(p, s, -0.5f), s, 1.0f);
}

// The sine of a rest after n quarters of a turn.
INLINED float sine_of(float rest, int n)
{
    float s = rest * rest;
    float value = n & 1 ? cosine(s) : sine(rest, s);
    return as_float(as_int(value) ^ (n & 2) << 30);
}

float MATHS pumice_sin(float x)
{
    float rest;
    int n = reduce(x, &rest);
    return sine_of(rest, n);
}

float MATHS pumice_cos(float x)
{
    float rest;
    int n = reduce(x, &rest);
    return sine_of(rest, n + 1);
}

float MATHS pumice_tan(float x)
{
    float rest;
    int n = reduce(x, &rest);
    float s = rest * rest;
    float p = 0x1.fab336p-9f;
    p = fma(p, s, 0x1.2b04cp-10f);
    p = fma(p, s, 0x1.478bc4p-7f);
    p = fma(p, s, 0x1.620a4ep-6f);
    p = fma(p, s, 0x1.ba571ap-5f);
    p = fma(p, s, 0x1.111072p-3f);
    p = fma(p, s, 0x1.555556p-2f);
    float value = fma(p * s, rest, rest);
    return n & 1 ? -1.0f / value : value;
}

// atan of a number between 0 and 1
INLINED float arc(float t)
{
    float s = t * t;
    float p = 0x1.01fd88p-8f;
    p = fma(p, s, -0x1.4c3c6p-6f);
    p = fma(p, s, 0x1.93a2cp-5f);
    p = fma(p, s, -0x1.491f0ep-4f);
    p = fma(p, s, 0x1.bd7368p-4f);
    p = fma(p, s, -0x1.24051ep-3f);
    p = fma(p, s, 0x1.99935ep-3f);
    p = fma(p, s, -0x1.55555p-2f);
    return fma(p * s, t, t);
}

float MATHS pumice_atan(float x)
{
    float size = fabs(x);
    bool turned = size > 1.0f;
    float value = arc(turned ? 1.0f / size : size);
    return copysign(turned ? HALF_PI - value + HALF_PI_REST : value, x);
}

float MATHS pumice_atan2(float y, float x)
{
    float across = fabs(x), up = fabs(y);
    float more = fmax(across, up), less = fmin(across, up);
    // Zeros and infinities have a direction each.
    float slope = more == 0.0f ? 0.0f : less == INFINITY ? 1.0f : less / more;
    float value = arc(slope);
    value = up > across ? HALF_PI - value + HALF_PI_REST : value;
    value = as_int(x) < 0 ? 2.0f * HALF_PI - value + 2.0f * HALF_PI_REST : value;
    return isnan(x) || isnan(y) ? NAN : copysign(value, y);
}

// (asin(t) - t) / t of a number up to one half; s = t²
INLINED float arc_sine(float s)
{
    float p = 0x1.3926d2p-5f;
    p = fma(p, s, 0x1.b1e3acp-6f);
    p = fma(p, s, 0x1.70bf2ap-5f);
    p = fma(p, s, 0x1.332688p-4f);
    p = fma(p, s, 0x1.55555ep-3f);
    return p * s;
}

float MATHS pumice_asin(float x)
{
    float size = fabs(x);
    bool far = size > 0.5f;
    float s = far ? fma(-0.5f, size, 0.5f) : size * size;
    float t = far ? sqrt(s) : size;
    float value = fma(arc_sine(s), t, t);
    return copysign(far ? fma(-2.0f, value, HALF_PI) + HALF_PI_REST : value, x);
}

float MATHS pumice_acos(float x)
{
    float size = fabs(x);
    bool far = size > 0.5f;
    float s = far ? fma(-0.5f, size, 0.5f) : size * size;
    float t = far ? sqrt(s) : x;
    float value = fma(arc_sine(s), t, t);
    if (!far)
        return HALF_PI - value + HALF_PI_REST;
    value *= 2.0f;
    return x < 0.0f ? 2.0f * HALF_PI - value + 2.0f * HALF_PI_REST : value;
}
