// intel-graphics-compiler 402: short values, shuffled as wider ones and used under a condition, were wrong.
// options: -cl-std=CL3.0
// needs: cl_khr_subgroup_shuffle __opencl_c_subgroups
// range: 4 by 4
// in: ushort 2 65535 30 40
// out: uint 65537 1 70 2 65639 0 10 4
// value: int 2
kernel void test(global const ushort *in, global uint *out, int wanted)
{
    uint lane = get_sub_group_local_id(), id = get_global_id(0);
    ushort mine = in[id];
    ushort others = mine;
    if (get_max_sub_group_size() >= 2)
        others = (ushort)sub_group_shuffle_xor((uint)mine, 1u);
    else
        others = in[id ^ 1];
    uint sum = (uint)mine + others;
    out[id] = lane;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (id == 0) {
        out[0] = sum;
        out[1] = 1;
    }
    if (id == wanted)
        out[wanted] = sum;
    if (id == 3)
        out[3] = 2;
    if (id < 1) {
        out[4] = sum + 102;
        out[5] = 0;
        out[6] = 10;
        out[7] = 4;
    }
}
