// CLBlast 387: vectors of two and four, loaded, scaled and stored, differed from scalars.
// range: 4 by 2
// value: int 32
// value: float 2
// in: float 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
// inout: float 16*1 16*2 -> float 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 66
#define VW 4
#define WPT 2
typedef float4 realV;

realV MultiplyAddVector(realV y, float alpha, realV x)
{
#if VW == 1
    y += alpha * x;
#else
    y.x += alpha * x.x;
    y.y += alpha * x.y;
    y.z += alpha * x.z;
    y.w += alpha * x.w;
#endif
    return y;
}

kernel __attribute__((reqd_work_group_size(2, 1, 1))) void test(const int n, const float alpha, const global realV *restrict xgm, global realV *ygm)
{
#pragma unroll
    for (int w = 0; w < WPT; w++) {
        const int id = w * get_global_size(0) + get_global_id(0);
        if (id < n / VW)
            ygm[id] = MultiplyAddVector(ygm[id], alpha, xgm[id]);
    }
}
