// clspv 901: long vectors as elements of structures and arrays, aligned to their size.
// range: 2
// out: uint 64 128 0 64 128 0
// out: int 1 2 3 4 5 6 7 8 9 9 10 11 12 13 14 15 16 9
typedef struct {
    int first;
    int8 eight;
    int last;
} __attribute__((aligned(32))) record;

kernel void test(global uint *sizes, global int *out)
{
    size_t i = get_global_id(0);
    record all[2];
    for (int j = 0; j < 2; j++) {
        all[j].first = 0;
        all[j].eight = (int8)(1, 2, 3, 4, 5, 6, 7, 8) + 8 * j;
        all[j].last = 9;
    }
    sizes[3 * i] = __builtin_offsetof(record, last);
    sizes[3 * i + 1] = sizeof(record) + 32;
    sizes[3 * i + 2] = (uint)(uintptr_t)&all[i].eight % 32;
    vstore8(all[i].eight, 0, out + 9 * i);
    out[9 * i + 8] = all[i].last;
}
