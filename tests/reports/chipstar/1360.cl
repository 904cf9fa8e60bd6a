// chipStar 1360: the length of a common prefix of bits, by guarded shifts and clz over words, was wrong.
// range: 4
// in: uint 0xa0cf5ff 0x528f3ce0 0x8f430053 0xbf3c2ef0
// in: uint 0xa0cf5ff 0x528f3ce0 0x8f430453 0xbf3c2ef0
// out: int 85 3 2 1
// out: int 128 3 2 1
int prefix(global const uint *a, global const uint *b, uint shift)
{
    int length = 0;
    for (int i = 0; i < 4; i++) {
        uint word = b[i];
        if (shift != 0 && shift < 32) {
            word <<= shift;
            if (i + 1 < 4)
                word |= b[i + 1] >> (32 - shift);
        }
        int same = clz(a[i] ^ word);
        length += same;
        if (same < 32)
            break;
    }
    return length;
}

kernel void test(global const uint *a, global const uint *b, global int *others, global int *itself)
{
    uint shift = get_global_id(0);
    others[shift] = prefix(a, b, shift);
    itself[shift] = prefix(a, a, shift);
}
