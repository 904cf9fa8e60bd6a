// OpenCL-CTS 2703: nextafter around zero, one, the greatest number and infinity.
// range: 8
// in: float 1 1 -1 3.4028235e38 inf -inf 0 -0
// in: float 2 0 0 inf 0 1 -0 0
// out: float 1.0000001 0.99999994 -0.99999994 inf 3.4028235e38 -3.4028235e38 -0 0
kernel void test(global const float *x, global const float *y, global float *out)
{
    size_t i = get_global_id(0);
    out[i] = nextafter(x[i], y[i]);
}
