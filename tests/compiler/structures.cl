// Structures, pointers of all kinds, tables, control flow.
typedef struct { float a; char b; short c[3]; float4 v; } S;
typedef struct node { int value; global struct node *next; } node;

constant int table[4] = {1, 2, 3, 4};
constant char text[] = "text";

float helper(float x, private float *p) {
    float f = fract(x, p);
    return f + *p;
}

__attribute__((noinline)) float by_value(S s) {
    s.a += 1;
    return s.a + s.v.y;
}

kernel void k(global float *a, global const uchar *b, local int *l, S s, float4 f, uint n) {
    size_t i = get_global_id(0);
    local int q[16];
    float array[8];
    for (int j = 0; j < n; j++) {
        if (b[j] == 3) continue;
        if (b[j] == 7) break;
        array[j & 7] = a[j];
        q[j & 15] += j;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    l[i] = q[i & 15] + table[n & 3];
    float p;
    a[i] = helper(sin(a[i]) + s.a + s.v.y + f.z, &p) + array[n & 7] + by_value(s);
    atomic_add((volatile global int *)a, 3);
    vstore_half4_rte(f, i, (global half *)a);
    switch (n) {
    case 0: a[1] = 2; break;
    case 3: a[3] = 4;
    case 4: a[5] = 1; break;
    default: a[7] = 3;
    }
    switch ((ulong)n << 33) {
    case 0x200000000: a[8] = 1; break;
    case 0x800000003: a[9] = 1; break;
    }
}

kernel void copies(global S *s, global int *o) {
    S t = s[1];
    s[0] = t;
    o[0] = popcount(o[1]);
    o[2] = convert_int_sat_rte(as_float(o[3]));
}

kernel void list(global node *n, global int *sum) {
    int total = 0;
    while (n) {
        total += n->value;
        n = n->next;
    }
    *sum = total + text[total & 3];
}

kernel void irreducible(global int *x, int n) {
    int i = 0;
    if (n & 1) goto middle;
top:
    x[i] += 1;
middle:
    x[i] *= 3;
    if (++i < n) goto top;
}

kernel void generic_pointers(global int *x, local int *y, int n) {
    int z[4] = {n, 1, 2, 3};
    int *p = n > 3 ? (int *)x : n > 2 ? (int *)y : z;
    p[n & 1] += 5;
    x[0] += z[0] + (int)(intptr_t)p + (to_global(p) != 0);
}
