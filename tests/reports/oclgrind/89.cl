// oclgrind 89: bytes swapped by shifts and masks became an unknown function.
// inout: uint 0x01020304 0xdeadbeef 0x80000001 -> uint 0x04030201 0xefbeadde 0x01000080
kernel void test(global uint *data)
{
    for (uint i = 0; i < 3; i++) {
        uint word = data[i];
        data[i] = ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word & 0xff0000) >> 8) | ((word & 0xff000000) >> 24);
    }
}
