// llvm 177204: a counter that starts again at its limit, by compare and exchange.
// range: 100 by 10
// inout: uint 3 -> uint 1
// inout: uint 20 -> uint 4
uint next(volatile global uint *counter, uint limit)
{
    uint old = *counter, seen = old;
    do {
        old = seen;
        seen = atomic_cmpxchg(counter, old, old >= limit ? 0 : old + 1);
    } while (seen != old);
    return old;
}

kernel void test(volatile global uint *counter, volatile global uint *down)
{
    next(counter, 16);
    uint old = *down, seen = old;
    do {
        old = seen;
        seen = atomic_cmpxchg(down, old, old == 0 || old > 20 ? 20 : old - 1);
    } while (seen != old);
}
