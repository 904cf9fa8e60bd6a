// intel/llvm 23220: sum and difference with one product, before and after a barrier, were wrong.
// range: 64 by 64
// out: float -31.5 -28 -24.5 -21 -17.5 -14 -10.5 -7 -3.5 0 3.5 7 10.5 14 17.5 21 24.5 28 31.5 35 38.5 42 45.5 49 52.5 56 59.5 63 66.5 70 73.5 77 80.5 84 87.5 91 94.5 98 101.5 105 108.5 112 115.5 119 122.5 126 129.5 133 136.5 140 143.5 147 150.5 154 157.5 161 164.5 168 171.5 175 178.5 182 185.5 189
// out: float 31.5 34 36.5 39 41.5 44 46.5 49 51.5 54 56.5 59 61.5 64 66.5 69 71.5 74 76.5 79 81.5 84 86.5 89 91.5 94 96.5 99 101.5 104 106.5 109 111.5 114 116.5 119 121.5 124 126.5 129 131.5 134 136.5 139 141.5 144 146.5 149 151.5 154 156.5 159 161.5 164 166.5 169 171.5 174 176.5 179 181.5 184 186.5 189
// value: float 0.5
kernel void test(global float *sums, global float *differences, float c)
{
    local float exchanged[64];
    int i = get_local_id(0);
    float a = i, b = 4 * i, t = a;
    a = fma(c, b, t);
    b = fma(-c, b, t);
    exchanged[i] = b;
    barrier(CLK_LOCAL_MEM_FENCE);
    b = exchanged[63 - i];
    t = a;
    a = fma(c, b, t);
    b = fma(-c, b, t);
    sums[i] = a;
    differences[i] = b;
}
