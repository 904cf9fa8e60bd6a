// clspv 1164: three bytes loaded by vload3 and made floats were an invalid module.
// range: 2x2
// in: uchar 0 51 255 102 153 204 1 2 3 255 254 0
// value: uint 2 2
// out: float near 1e-6 1 0.2 0 0.8 0.6 0.4 0.011764706 0.007843138 0.003921569 0 0.99607843 1
kernel void test(global const uchar *in, uint2 dims, global float *out)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < dims.x && y < dims.y) {
        uint i = y * dims.x + x;
        uchar3 bgr = vload3(i, in);
        vstore3((float3)(bgr.z / 255.0f, bgr.y / 255.0f, bgr.x / 255.0f), i, out);
    }
}
