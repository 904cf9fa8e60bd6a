// pocl: a private array of 8 KiB was more than the stack of the thread that ran it.
// range: 4
// out: uint 4*69172224
kernel void test(global uint *out)
{
    const uint id = get_global_id(0);
    volatile uint scratch[2048];
    for (uint i = 0; i < 2048; ++i)
        scratch[i] = (i * 33u) ^ (id + 17u);
    uint sum = 0;
    for (uint i = 0; i < 2048; ++i)
        sum += scratch[i];
    out[id] = sum;
}
