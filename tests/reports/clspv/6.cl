// clspv 6: half floats stored by neighbouring work-items into one word, at even and odd places.
// range: 9
// inout: half 11*0x1234 -> half 0x1234 0x0000 0x3c00 0x4000 0x4200 0x4400 0x4500 0x4600 0x4700 0x4800 0x1234
// out: float 0 1 2 3 4 5 6 7 8
kernel void test(global half *halves, global float *back)
{
    size_t i = get_global_id(0);
    vstore_half((float)i, i, halves + 1);
    back[i] = vload_half(i + 1, halves);
}
