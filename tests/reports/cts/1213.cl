// OpenCL-CTS 1213: broadcasts of all scalar types across a sub-group, and of vectors.
// options: -cl-std=CL3.0
// needs: cl_khr_subgroup_extended_types
// range: 4 by 4
// in: char -1 -2 -3 -4
// out: char 4*-3
// out: ushort 4*65534
// out: long 4*-12884901888
// out: short 4*-2 4*-20
kernel void test(global const char *in, global char *chars, global ushort *ushorts, global long *longs, global short *pairs)
{
    uint i = get_local_id(0);
    chars[i] = sub_group_broadcast(in[i], 2);
    ushorts[i] = sub_group_broadcast((ushort)(in[i] * 1), 1);
    longs[i] = sub_group_broadcast((long)in[i] << 32, 2);
    short2 pair = sub_group_broadcast((short2)(in[i], in[i] * 10), 1);
    pairs[i] = pair.x;
    pairs[4 + i] = pair.y;
}
