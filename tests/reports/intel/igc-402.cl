// intel-graphics-compiler 402: short values, shuffled as wider ones and used under a condition, were wrong.
// options: -cl-std=CL3.0
// needs: cl_khr_subgroup_shuffle __opencl_c_subgroups
// range: 4 by 4
// in: ushort 2 65535 30 40
// out: uint 65537 0 70 0
// value: int 2
kernel void test(global const ushort *in, global uint *out, int wanted)
{
    int id = get_global_id(0);
    ushort mine = in[id], other = in[id ^ 1];
    if (get_max_sub_group_size() >= 2)
        other = (ushort)sub_group_shuffle_xor((uint)mine, 1u);
    uint sum = (uint)mine + other;
    out[id] = 0;
    if (id == 0)
        out[0] = sum;
    if (id == wanted)
        out[wanted] = sum;
}
