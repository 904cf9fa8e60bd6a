// oclgrind 117: mad_sat of long saturated where nothing overflows.
// range: 4
// in: long 1 -1 9223372036854775807 -9223372036854775808
// in: long -1 -1 2 2
// in: long 0 0 -1 1
// out: long -1 1 9223372036854775807 -9223372036854775808
kernel void test(global const long *a, global const long *b, global const long *c, global long *out)
{
    size_t i = get_global_id(0);
    out[i] = mad_sat(a[i], b[i], c[i]);
}
