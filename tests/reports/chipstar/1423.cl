// chipStar 1423: bytes of a uchar4 in local memory, rotated in a loop of the work-item's length, were wrong.
// range: 1x4 by 1x4
// in: uchar 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
// out: uchar 1 2 3 4 8 5 6 7 11 12 9 10 14 15 16 13
uchar4 rotated(uchar4 row, uint count)
{
    uchar4 r = row;
    for (uint i = 0; i < count; ++i) {
        uchar x = r.x, y = r.y, z = r.z, w = r.w;
        r = (uchar4)(w, x, y, z);
    }
    return r;
}

kernel void test(global const uchar4 *restrict in, global uchar4 *restrict out)
{
    local uchar4 block[4];
    uint i = get_local_id(1);
    block[i] = in[i];
    block[i] = rotated(block[i], i);
    out[i] = block[i];
}
