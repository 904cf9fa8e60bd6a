// clvk 239: vstore_half into private memory.
// out: half 0x3c00 0xc100 0x7c00 0x8000 0x3555
// out: float 1 -2.5 inf -0 0.33325195
kernel void test(global ushort *out, global float *back)
{
    float one = 1.0f;
    ushort h, several[4];
    private half *halves = (private half *)several;
    vstore_half(one, 0, (private half *)&h);
    vstore_half4((float4)(-2.5f, INFINITY, -0.0f, 1.0f / 3.0f), 0, halves);
    out[0] = h;
    back[0] = vload_half(0, (private half *)&h);
    for (int i = 0; i < 4; i++) {
        out[1 + i] = several[i];
        back[1 + i] = vload_half(i, halves);
    }
}
