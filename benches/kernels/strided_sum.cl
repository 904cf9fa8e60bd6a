// Each work-item adds up what is a grid apart.
kernel void add(global const float *source, global float *sums, int length)
{
    float sum = 0.0f;
    for (int i = get_global_id(0); i < length; i += get_global_size(0)) {
        sum += source[i] * source[i];
    }
    sums[get_global_id(0)] = sum;
}
