// intel-graphics-compiler 408: a loop with compare and exchange inside two loops with bounds of an argument crashed the compiler.
// range: 4x4
// inout: float 16*0 -> float 1 2*1.5 1 1.5 2*2.25 2*1.5 2*2.25 1.5 1 2*1.5 1
// value: int 1
// value: int 4
void add(global float *value, const float delta)
{
    union {
        float f;
        unsigned int i;
    } old, new;
    global volatile unsigned int *bits = (global volatile unsigned int *)value;
    do {
        old.i = atomic_add(bits, 0);
        new.f = old.f + delta;
    } while (atomic_cmpxchg(bits, old.i, new.i) != old.i);
}

kernel void test(global float *buffer, const int radius, const int width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int at_x = x + dx, at_y = y + dy;
            if (at_x < 0 || at_y < 0 || at_x >= width || at_y >= width)
                continue;
            add(buffer + at_y * width + at_x, 0.25f);
        }
}
