// clspv 700: local memory declared as ushort with an alignment, written as uint and read as half floats.
// out: float 0 1 -2 0.5
kernel void test(global float2 *f)
{
    local ushort data[4] __attribute__((aligned(sizeof(uint))));
    local half *halves = (local half *)data;
    *(local uint *)&data[0] = 0x3c000000;
    *(local uint *)&data[2] = 0x3800c000;
    f[0] = vload_half2(0, halves);
    f[1] = vload_half2(1, halves);
}
