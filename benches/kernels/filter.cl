// A weighted sum of what follows each place.
kernel void filter(global const float *source, global float *target, global const float *weights, int taps)
{
    int place = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < taps; k++) {
        sum += source[place + k] * weights[k];
    }
    target[place] = sum;
}
