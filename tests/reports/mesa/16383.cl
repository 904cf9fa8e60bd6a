// darktable 16383: colours that were summed up with their count as fourth component were not divided by it.
// range: 8 by 4
// local: 128
// in: float 1 2 3 4 5 6 7 8
// in: uchar 0 1 1 0 1 1 1 0
// out: float 2 4 8 0 2.5 5 10 0 3 6 12 0 0 0 0 0 5.5 11 22 0 6.5 13 26 0 7 14 28 0 0 0 0 0
kernel void test(local float4 *shared, global const float *in, global const uchar *good, global float4 *out)
{
    int id = get_local_id(0), first = get_group_id(0) * 4, i = get_global_id(0);
    float4 pixel = (float4)(in[i], 2 * in[i], 4 * in[i], 0.0f);
    shared[id] = pixel;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 3) {
        out[i] = 0.0f;
        return;
    }
    float4 sum = (float4)0.0f;
    for (int step = 0; step < 2; step++) {
        int at = id + step;
        if (good[first + at]) {
            float4 one = shared[at];
            one.w = 1.0f;
            sum += one;
        }
    }
    float4 color = sum.w > 0.0f ? sum / sum.w : (float4)0.0f;
    color.w = 0.0f;
    out[i] = color;
}
