// oclgrind: rhadd and hadd of values whose sum overflows.
// range: 3
// in: ulong 0 0xffffffffffffffff 0xffffffffffffffff
// in: ulong 0xffffffffffffffff 0xffffffffffffffff 0xfffffffffffffffe
// out: ulong 0x8000000000000000 0xffffffffffffffff 0xffffffffffffffff
// out: ulong 0x7fffffffffffffff 0xffffffffffffffff 0xfffffffffffffffe
kernel void test(global const ulong *a, global const ulong *b, global ulong *rounded, global ulong *cut)
{
    size_t i = get_global_id(0);
    rounded[i] = rhadd(a[i], b[i]);
    cut[i] = hadd(a[i], b[i]);
}
