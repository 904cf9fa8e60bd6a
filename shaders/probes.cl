// Kernels by which a device is tried out before it is relied on: src/runtime/device/probes computes what they are to
// write, on the host. What they read is in memory, so that no compiler knows it. All have 64 work-items in a work-group
// but `progress`.

#define ITEMS __attribute__((reqd_work_group_size(64, 1, 1)))

#pragma OPENCL FP_CONTRACT OFF

// Three numbers become five.
ITEMS kernel void singles(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    float x = as_float(in[i * 3]), y = as_float(in[i * 3 + 1]), z = as_float(in[i * 3 + 2]);
    out[i * 5] = as_uint(fma(x, y, z));
    out[i * 5 + 1] = as_uint(x + y);
    out[i * 5 + 2] = as_uint(x - z);
    out[i * 5 + 3] = as_uint(x * y);
    out[i * 5 + 4] = as_uint((float)(int)in[i * 3]);
}

ITEMS kernel void exponentials(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    out[i] = as_uint(native_exp2(as_float(in[i])));
}

#ifdef DOUBLES
ITEMS kernel void doubles(global const ulong *in, global ulong *out) {
    size_t i = get_global_id(0);
    double x = as_double(in[i * 3]), y = as_double(in[i * 3 + 1]), z = as_double(in[i * 3 + 2]);
    out[i * 5] = as_ulong(fma(x, y, z));
    out[i * 5 + 1] = as_ulong(x + y);
    out[i * 5 + 2] = as_ulong(x - z);
    out[i * 5 + 3] = as_ulong(x * y);
    out[i * 5 + 4] = as_ulong((double)(float)x);
}
#endif

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Halves lie in the lower half of a word each.
ITEMS kernel void halves(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    half x = as_half((ushort)in[i * 3]), y = as_half((ushort)in[i * 3 + 1]), z = as_half((ushort)in[i * 3 + 2]);
    out[i * 5] = as_ushort(fma(x, y, z));
    out[i * 5 + 1] = as_ushort((half)(x + y));
    out[i * 5 + 2] = as_ushort((half)(x * y));
    out[i * 5 + 3] = as_ushort((half)as_float(in[i * 3] << 16 | in[i * 3 + 1]));
    out[i * 5 + 4] = as_uint((float)z);
}

// Two numbers become ten.
ITEMS kernel void longs(global const ulong *in, global ulong *out) {
    size_t i = get_global_id(0);
    ulong x = in[i * 2], y = in[i * 2 + 1];
    out[i * 10] = x + y;
    out[i * 10 + 1] = x - y;
    out[i * 10 + 2] = x * y;
    out[i * 10 + 3] = x / (y | 1);
    out[i * 10 + 4] = (long)x % (long)(y >> 1 | 1);
    out[i * 10 + 5] = x << (y & 63);
    out[i * 10 + 6] = x >> (y & 63);
    out[i * 10 + 7] = (long)x >> (y & 63);
    out[i * 10 + 8] = (ulong)(x < y) | (ulong)((long)x < (long)y) << 1 | (ulong)(x == y) << 2;
    out[i * 10 + 9] = (ulong)(long)(int)(uint)x ^ (ulong)(uint)y;
}

// Two bytes and two shorts become twelve of each.
ITEMS kernel void narrow(global const uchar *bytes, global const ushort *shorts, global uint *out) {
    size_t i = get_global_id(0);
    uchar a = bytes[i * 2], b = bytes[i * 2 + 1];
    ushort s = shorts[i * 2], t = shorts[i * 2 + 1];
    char sa = (char)a, sb = (char)b;
    short ss = (short)s, st = (short)t;
    global uint *o = out + i * 8;
    o[0] = (uchar)(a + b) | (uint)(uchar)(a * b) << 8 | (uint)(uchar)(a - b) << 16 | (uint)(uchar)(a / (uchar)(b | 1)) << 24;
    o[1] = (uchar)(char)(sa >> (b & 7)) | (uint)(uchar)(a >> (b & 7)) << 8 | (uint)(uchar)(a << (b & 7)) << 16 | (uint)(sa < sb) << 24;
    o[2] = (uint)(int)(char)(sa + sb);
    o[3] = (uint)(int)(sa % (char)(sb | 1));
    o[4] = (ushort)(s + t) | (uint)(ushort)(s * t) << 16;
    o[5] = (ushort)(s - t) | (uint)(ushort)(s / (ushort)(t | 1)) << 16;
    o[6] = (ushort)(short)(ss >> (t & 15)) | (uint)(ushort)(s >> (t & 15)) << 16;
    o[7] = (uint)(int)(short)(ss + st) + (uint)(ss < st);
}

// Bytes and shorts that are stored beside each other by different work-items.
ITEMS kernel void narrow_stores(global const uint *in, global uchar *bytes, global ushort *shorts) {
    size_t i = get_global_id(0);
    bytes[i ^ 1] = (uchar)in[i];
    shorts[i ^ 1] = (ushort)(in[i] >> 8);
}

// Work-items hand numbers on through local memory, a barrier before each step and behind it.
ITEMS kernel void barriers(global const uint *in, global uint *out) {
    local uint words[64];
    uint l = get_local_id(0), i = get_global_id(0), steps = in[get_group_id(0)], value = i;
    for (uint step = 0; step < steps; step++) {
        words[l] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value = words[(l + step) & 63] * 3 + step;
        if (step % 3 == 1) value ^= l;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = value;
}

// Each work-item says that it has written, and looks who else has: nobody may be seen to have without what he wrote.
ITEMS kernel void messages(global uint *data, global atomic_uint *flags, global uint *out) {
    uint i = get_global_id(0), count = get_global_size(0), missed = 0;
    data[i] = i + 1;
    atomic_store_explicit(flags + i, 1, memory_order_release, memory_scope_device);
    for (uint k = 1; k < count; k += 7) {
        uint other = (i + k) % count;
        if (atomic_load_explicit(flags + other, memory_order_acquire, memory_scope_device) && data[other] != other + 1)
            missed++;
    }
    out[i] = missed;
}

// What sub-groups compute of their work-items, with the place of each: in all of them, and where only some come to.
ITEMS kernel void sub_groups(global const uint *in, global uint *out) {
    uint i = get_global_id(0), lane = get_sub_group_local_id(), size = get_sub_group_size();
    uint x = in[i];
    global uint *o = out + i * 16;
    o[0] = get_sub_group_id() << 16 | lane << 8 | size;
    o[1] = sub_group_reduce_add(x);
    o[2] = sub_group_scan_inclusive_add(x);
    o[3] = sub_group_scan_exclusive_max(x);
    o[4] = sub_group_broadcast(x, size - 1);
    o[5] = sub_group_all(x > 20) << 1 | sub_group_any(x > 200);
    o[6] = sub_group_shuffle(x, (lane * 5 + 3) % size);
    o[7] = sub_group_shuffle_xor(x, 1 % size);
    // All take part, whether they use it or not.
    o[8] = sub_group_shuffle_up(x, 1);
    o[9] = sub_group_shuffle_down(x, 1);
    uint4 ballot = sub_group_ballot(x & 1);
    o[10] = sub_group_ballot_bit_count(ballot);
    o[11] = sub_group_ballot_bit_extract(ballot, lane);
    o[12] = sub_group_rotate(x, 3);
    o[13] = o[14] = o[15] = 0;
    if (x % 3 != 0) {
        o[13] = sub_group_non_uniform_reduce_add(x);
        o[14] = sub_group_non_uniform_scan_inclusive_add(x);
        o[15] = sub_group_ballot_bit_count(sub_group_ballot(x & 2));
    }
}

// Each half of a work-group waits for the other to come, one after the other: not for ever.
void wait_for_each_other(local atomic_uint *come, global uint *out) {
    uint l = get_local_id(0), half_group = l >= get_local_size(0) / 2, patience = out[0];
    if (l < 2) atomic_init(come + l, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint turn = 0; turn < 2; turn++) {
        if (half_group == turn) {
            uint waits = 0;
            while (waits < patience && !atomic_load_explicit(come + turn, memory_order_acquire, memory_scope_work_group)) waits++;
            if (waits == patience) atomic_or((global uint *)out + 1, 1u << turn);
        } else {
            atomic_store_explicit(come + turn, 1, memory_order_release, memory_scope_work_group);
        }
    }
}

__attribute__((reqd_work_group_size(128, 1, 1))) kernel void progress_128(global uint *out) {
    local atomic_uint come[2];
    wait_for_each_other(come, out);
}

__attribute__((reqd_work_group_size(256, 1, 1))) kernel void progress_256(global uint *out) {
    local atomic_uint come[2];
    wait_for_each_other(come, out);
}
