// pocl 398: a reduction of structures with minimum and maximum over a subset of the elements was wrong.
// range: 16 by 16
// in: int -33 -4 25 54 -14 15 44 -24 5 34 -34 -5 24 53 -15 14 43 -25 4 33 -35 -6 23 52 -16 13 42 -26 3 32 -36 -7 22 51 -17 12 41 -27 2 31 -37 -8 21 50 -18 11 40 -28 1 30 -38 -9 20 49 -19 10 39 -29 0 29 -39 -10 19 48 -20 9 38 -30 -1 28 -40 -11 18 47 -21 8 37 -31 -2 27 56 -12 17 46 -22 7 36 -32 -3 26 55 -13 16 45 -23 6 35 -33 -4 25
// in: int 0 3 6 9 12 15 18 21 24 27 30 33 36 39 42 45 48 51 54 57 60 63 66 69 72 75 78 81 84 87 90 93 96 99 2 5 8 11 14 17 20 23 26 29 32 35 38 41 44 47 50 53 56 59 62 65 68 71 74 77 80 83 86 89 92 95 98 1 4 7 10 13 16 19 22 25 28 31 34 37 40 43 46 49 52 55 58 61 64 67
// out: int -39 56
// value: int 90
typedef struct {
    int low, high;
} range;

range neutral(void)
{
    range r;
    r.low = INT_MAX;
    r.high = INT_MIN;
    return r;
}

range joined(range a, range b)
{
    range r = a;
    if (b.low < r.low)
        r.low = b.low;
    if (b.high > r.high)
        r.high = b.high;
    return r;
}

range of_one(int x)
{
    range r = { x, x };
    return r;
}

#define REDUCE(a, b) joined(a, b)
#define MAP(i) of_one(values[subset[i]])

kernel void test(global const int *values, global const int *subset, global range *out, int n)
{
    local range parts[16];
    int lane = get_local_id(0);
    range sum = neutral();
    for (int i = lane; i < n; i += 16)
        sum = REDUCE(sum, MAP(i));
    parts[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = 8; half_of > 0; half_of /= 2) {
        if (lane < half_of) {
            range other = parts[lane + half_of];
            parts[lane] = REDUCE(parts[lane], other);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        *out = parts[0];
}
