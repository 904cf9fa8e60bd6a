// intel/llvm 4527: sixteen words, each of four bytes by shifts in an unrolled loop with two indices, were wrong.
// in: uchar 200 237 18 55 92 129 166 203 240 21 58 95 132 169 206 243 24 61 98 135 172 209 246 27 64 101 138 175 212 249 30 67 104 141 178 215 252 33 70 107 144 181 218 255 36 73 110 147 184 221 2 39 76 113 150 187 224 5 42 79 116 153 190 227
// out: uint 0xc8ed1237 0x5c81a6cb 0xf0153a5f 0x84a9cef3 0x183d6287 0xacd1f61b 0x40658aaf 0xd4f91e43 0x688db2d7 0xfc21466b 0x90b5daff 0x24496e93 0xb8dd0227 0x4c7196bb 0xe0052a4f 0x7499bee3
kernel void test(global const uchar *in, global uint *out)
{
    uchar data[64];
    for (int i = 0; i < 64; i++)
        data[i] = in[i];
    uint words[16];
#pragma unroll
    for (ulong i = 0, j = 0; i < 16; ++i, j += 4)
        words[i] = (uint)(((uint)data[j] << 24) + ((uint)data[j + 1] << 16) + ((uint)data[j + 2] << 8) + ((uint)data[j + 3]));
    for (int i = 0; i < 16; i++)
        out[i] = words[i];
}
