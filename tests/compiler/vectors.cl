// Vectors of all widths, OpenCL.std functions on them, loads and stores of half.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void shuffles(global uchar16 *a, global uint4 *m, global short8 *s) {
    a[1] = shuffle(a[0], (uchar16)(0, 3, 1, 7, 15, 2, 4, 6, 8, 10, 12, 14, 1, 1, 1, 1));
    m[1] = shuffle2(m[0], m[2], m[3] & 7);
    s[1] = s[0].s76543210;
    m[4].s02 = m[5].wx;
}

kernel void floats(global float4 *a, global int4 *i, global float3 *t, global float *f) {
    float4 w;
    float4 r = fract(a[0], &w);
    int4 e;
    r += frexp(a[1], &e);
    i[0] = e;
    a[2] = r * w + fma(a[3], a[4], a[5]);
    a[6] = sincos(a[7], &w);
    a[8] = select(a[0], a[1], i[3]);
    a[9] = ldexp(a[0], i[1]) + pow(a[1], a[2]) + native_sin(a[3]) + clamp(a[4], 0.f, 1.f);
    t[0] = cross(t[1], t[2]) + normalize(t[3]);
    f[0] = dot(a[0], a[1]) + length(t[0]) + distance(a[2], a[3]);
    i[2] = isnan(a[0]) | (a[1] < a[2]) | isgreater(a[3], a[4]);
    t[5] = vload3(7, f);
    vstore3(t[6], 8, f);
}

kernel void halves(global half *h, global float3 *f, global half4 *g) {
    f[0] = vload_half3(3, h) + vloada_half3(4, h);
    vstorea_half3_rtz(f[1], 5, h);
    vstore_half3_rtp(f[2], 6, h);
    g[0] = g[1] * g[2] + (half)2;
}

kernel void integers(global long2 *l, global uchar8 *c, global short3 *s, global uint *u) {
    l[0] = mul_hi(l[1], l[2]) + rotate(l[3], l[4]) / l[5] % l[6];
    c[0] = add_sat(c[1], c[2]) ^ hadd(c[3], c[4]) >> c[5];
    s[0] = convert_short3_sat(convert_int3(s[1]) * 3) + as_short3(abs_diff(s[2], s[3])) - clz(s[4]);
    u[0] = mad24(u[1], u[2], u[3]) + upsample((ushort)u[4], (ushort)u[5]) + popcount(u[6]);
    u[7] = any(s[5] > s[6]) + all(s[7] < s[8]);
    int4 dynamic = {1, 2, 3, 4};
    u[8] = ((private int *)&dynamic)[u[9] & 3];
}
