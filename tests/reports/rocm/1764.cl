// ROCm 1764: the upper half of the square of a value of 24 bits was zero.
// range: 6
// inout: uint 0x0 0x1 0xffffff 0x1000000 0x12345678 0xffffffff -> uint 2*0x0 0xffff 0x0 0xab3 0xffff
kernel void test(global uint *data)
{
    uint i = get_global_id(0);
    ulong x = data[i] & 0x00ffffffu;
    data[i] = (x * x) >> 32;
}
