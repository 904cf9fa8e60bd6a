// clspv 357: objects of a class in global and local memory, copied, and their functions called.
// options: -cl-std=CLC++
// range: 4 by 4
// in: uint 1 2 3 10 20 30 100 200 300 5 6 7
// out: uint 5 6 8 100 200 301 10 20 31 1 2 4
class item {
public:
    uint value() const __local { return third; }
    void add(uint more) __local { third += more; }
    uint first, second, third;
};

kernel void test(const global item *in, global item *out)
{
    local item items[4];
    size_t i = get_local_id(0);
    items[i] = in[i];
    items[i].add(1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = items[3 - i];
    out[i].third = items[3 - i].value();
}
