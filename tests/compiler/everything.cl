// A little of everything, for tests that damage modules.
typedef struct { char tag; float3 position; ushort counts[5]; global int *next; } item;
constant float table[8] = {0.5f, 1, 2, 4, 8, 16, 32, 64};
constant char *constant names[] = {"zero", "one", "many"};
global int counter = 3;
global int *where = &counter;

__attribute__((noinline)) float series(float x, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 7 == 6) continue;
        sum += pow(x, i) / tgamma((float)i + 1);
        if (sum > 1000) break;
    }
    return sum;
}

int through_generic(int *p, int n) { for (int i = 0; i < n; i++) p[i] ^= p[n - 1 - i]; return p[0]; }

kernel void items(global item *all, global float *out, local int *scratch, int n) {
    size_t i = get_global_id(0);
    int l = get_local_id(0);
    local int shared_sum;
    if (l == 0) shared_sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    item it = all[i];
    int own[16];
    for (int k = 0; k < 16; k++) own[k] = it.counts[k % 5] * k;
    scratch[l] = through_generic(i & 1 ? (generic int *)own : (generic int *)scratch, n & 15);
    atomic_add(&shared_sum, own[n & 15]);
    atomic_fetch_add_explicit((volatile global atomic_int *)where, 1, memory_order_relaxed, memory_scope_device);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    switch (it.tag) {
        case 'a': out[i] = series(it.position.x, n); break;
        case 'b': out[i] = dot(it.position, it.position.zxy); // falls through
        case 'c': out[i] += table[n & 7] + shared_sum; break;
        default:
            if (n > 100) goto end;
            out[i] = convert_float3_rtz(convert_uchar3_sat(it.position)).y + scratch[l ^ 1];
    }
    vstore_half4_rtp((float4)(it.position, out[i]), i, (global half *)out);
end:
    printf("%s %v3hlf %d\n", names[min(n, 2)], it.position, shared_sum);
    all[i] = it;
}

kernel void wide(global ulong4 *a, global short16 *b, global long *c) {
    size_t i = get_global_linear_id();
    ulong4 x = a[i], y = a[i + 1];
    a[i] = mul_hi(x, y) / (y | 1) + rotate(x, y) % 1000;
    short16 s = shuffle(b[i], convert_ushort16(b[i + 1]) & (ushort16)15);
    b[i] = add_sat(s, b[i + 2]) >> 3;
    c[i] = work_group_reduce_add((int)s.s0) + work_group_scan_inclusive_max((uint)s.s1) + popcount(c[i]) + clz(c[i + 1]);
}
