// llvm 154297: a loop that exchanges a 64-bit integer until nobody came between.
// needs: cl_khr_int64_base_atomics
// range: 64 by 16
// inout: long 1000000000000 -> long 1000000002016
// inout: long 0 -> long 63
kernel void test(volatile global long *sum, volatile global long *most)
{
    long mine = get_global_id(0);
    long old = *sum, seen;
    while ((seen = atom_cmpxchg(sum, old, old + mine)) != old)
        old = seen;
    long was = *most;
    do {
        old = was;
        was = atom_cmpxchg(most, old, max(old, mine));
    } while (was != old);
}
