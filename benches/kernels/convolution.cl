// As one writes it first: every tap from global memory, the edges of the field repeat outwards.
kernel void convolve(global const float *source, global float *target, global const float *weights, int taps, int width,
                     int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    int radius = taps / 2;
    float sum = 0.0f;
    for (int j = 0; j < taps; j++) {
        int row = clamp(y + j - radius, 0, height - 1);
        for (int i = 0; i < taps; i++) {
            int column = clamp(x + i - radius, 0, width - 1);
            sum += source[row * width + column] * weights[j * taps + i];
        }
    }
    target[y * width + x] = sum;
}
