// SPIRV-LLVM 36: compare and exchange, strong and weak, of global and local integers, and what it leaves in the expected value.
// options: -cl-std=CL3.0
// needs: __opencl_c_generic_address_space __opencl_c_atomic_scope_device __opencl_c_atomic_order_seq_cst
// inout: int 5 -> int 9
// out: int 1 5 0 9 7 1 4 30
kernel void test(volatile global atomic_int *a, global int *out)
{
    local atomic_int shared;
    int expected = 5;
    out[0] = atomic_compare_exchange_strong(a, &expected, 9);
    out[1] = expected;
    expected = 6;
    out[2] = atomic_compare_exchange_strong_explicit(a, &expected, 77, memory_order_acq_rel, memory_order_relaxed, memory_scope_device);
    out[3] = expected;
    atomic_init(&shared, 7);
    out[4] = atomic_exchange(&shared, 4);
    int tries = 0;
    do
        expected = 4;
    while (!atomic_compare_exchange_weak(&shared, &expected, 30) && ++tries < 1000);
    out[5] = tries < 1000;
    out[6] = expected;
    out[7] = atomic_load(&shared);
}
