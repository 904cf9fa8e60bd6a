// FluidX3D 217: floats added atomically by compare and exchange, and by two exchanges.
// range: 64 by 32
// inout: float 1 0 -> float 2017 96
// inout: float 0.5 -> float 32.5
void add(volatile global float *address, const float value)
{
    union {
        uint u32;
        float f32;
    } next, expected, current;
    current.f32 = *address;
    do {
        next.f32 = (expected.f32 = current.f32) + value;
        current.u32 = atomic_cmpxchg((volatile global uint *)address, expected.u32, next.u32);
    } while (current.u32 != expected.u32);
}

void add_by_exchange(volatile global float *address, const float value)
{
    float old = value;
    while ((old = atomic_xchg(address, atomic_xchg(address, 0.0f) + old)) != 0.0f)
        ;
}

kernel void test(volatile global float *sums, volatile global float *also)
{
    int i = get_global_id(0);
    add(&sums[0], (float)i);
    add(&sums[1], 1.5f);
    add_by_exchange(also, 0.5f);
}
