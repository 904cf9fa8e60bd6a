// pocl 1747: an index was another behind a barrier inside of the condition that checks it.
// range: 4 by 4
// inout: long 6*9 -> long 1 2 3 4 9 9
// value: ulong 4 6
typedef struct {
    ulong length;
    ulong capacity;
} shape;

kernel void test(global long *data, shape s)
{
    ulong i = get_global_id(0) + 1;
    if (i <= s.length) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i > s.capacity)
            return;
        data[i - 1] = i;
    }
}
