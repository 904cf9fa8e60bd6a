// SPIRV-LLVM-Translator 3231: shuffles of halves and bytes across a sub-group.
// needs: cl_khr_subgroup_shuffle cl_khr_fp16
// options: -cl-std=CL3.0
// range: 4 by 4
// in: half 0x3c00 0x4000 0x4200 0x4400
// out: half 0x4000 0x3c00 0x4400 0x4200
// in: char -1 2 -3 4
// out: char 4 4 4 4
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global const half *in, global half *out, global const char *bytes, global char *last)
{
    uint i = get_local_id(0);
    out[i] = sub_group_shuffle_xor(in[i], 1);
    last[i] = sub_group_shuffle(bytes[i], 3);
}
