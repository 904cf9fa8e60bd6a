// llvm 152863: a loop whose value comes from an atomic operation in it.
// needs: cl_khr_int64_base_atomics
// range: 8 by 4
// inout: long 0 -> long 800
// out: long 8*100
kernel void test(volatile global long *counter, global long *turns)
{
    long seen = 0, mine = 0;
    for (;;) {
        long old = atom_cmpxchg(counter, seen, seen + 1);
        if (old == seen && ++mine == 100)
            break;
        seen = old == seen ? seen + 1 : old;
    }
    turns[get_global_id(0)] = mine;
}
