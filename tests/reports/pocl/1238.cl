// pocl 1238: vectors of structures in private and local memory were not aligned.
// range: 2
// out: uint 16*0
// out: uint 16 0 16
struct unpacked {
    char first;
    long16 vector;
};
struct __attribute__((packed)) two {
    int3 before;
    int3 vector;
};

kernel void test(global uint *out, global uint *offsets)
{
    uint id = get_global_id(0);
    struct unpacked mine[2];
    local struct unpacked ours[2];
    float8 eight[3];
    local short16 sixteen[3];
    mine[id].vector = id;
    eight[id] = id;
    out[8 * id] = (uint)(ulong)&mine[0].vector & 127;
    out[8 * id + 1] = (uint)(ulong)&mine[1].vector & 127;
    out[8 * id + 2] = (uint)(ulong)&ours[0].vector & 127;
    out[8 * id + 3] = (uint)(ulong)&ours[1].vector & 127;
    out[8 * id + 4] = (uint)(ulong)&eight[1] & 31;
    out[8 * id + 5] = (uint)(ulong)&eight[2] & 31;
    out[8 * id + 6] = (uint)(ulong)&sixteen[1] & 31;
    out[8 * id + 7] = mine[id].vector.sf != id || eight[id].s7 != id;
    if (id == 0) {
        struct two t;
        offsets[0] = (uint)((private uchar *)&t.vector - (private uchar *)&t);
        offsets[1] = (uint)((private uchar *)&t.before - (private uchar *)&t);
        offsets[2] = sizeof(int3);
    }
}
