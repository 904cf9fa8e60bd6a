// pocl 889: a dot product of four strided elements at once, after conditional moves of the pointers, crashed the compiler.
// range: 2
// in: float 9 1 2 3 4 5 6 7 8
// in: float 1 0 2 0 3 0 4 0 5 0 6 0 7 0 8 0
// out: float 2*60
// value: uint 8
// value: int 1
// value: int -2
kernel void test(global float *x_all, global float *y_all, global float *out, uint n, int step_x, int step_y)
{
    global float *x = x_all + 1, *y = y_all;
    float product = 0.0f;
    if (step_x < 0)
        x = x + (n - 1) * abs(step_x);
    if (step_y < 0)
        y = y + (n - 1) * abs(step_y);
    for (int i = get_global_id(0) * 4; i + 4 - 1 < n; i += get_global_size(0) * 4) {
        float4 a = (float4)((x + (i * step_x))[0 + (step_x * 0)], (x + (i * step_x))[0 + (step_x * 1)],
                            (x + (i * step_x))[0 + (step_x * 2)], (x + (i * step_x))[0 + (step_x * 3)]);
        float4 b = (float4)((y + (i * step_y))[0 + (step_y * 0)], (y + (i * step_y))[0 + (step_y * 1)],
                            (y + (i * step_y))[0 + (step_y * 2)], (y + (i * step_y))[0 + (step_y * 3)]);
        float4 both = a * b;
        product += both.S0 + both.S1 + both.S2 + both.S3;
    }
    out[get_global_id(0)] = product;
}
