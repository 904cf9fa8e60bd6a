// clspv 555: sizes and ids cut to short and char.
// range: 400x2 by 200x1
// inout: int 0 0 0 -> int 200 -56 144
// inout: int 0 -> int 800
kernel void test(global int *out, volatile global int *count)
{
    out[0] = (short)get_local_size(0);
    out[1] = (char)get_local_size(0);
    out[2] = (uchar)get_global_size(0);
    // Ids up to 399 as bytes that are sign-extended, and their difference, always a multiple of 256.
    int id = get_global_id(0);
    if ((id - (char)get_global_id(0)) % 256 == 0)
        atomic_inc(count);
}
