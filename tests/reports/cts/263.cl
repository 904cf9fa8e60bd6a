// OpenCL-Docs 263: member functions for each address space, references to local objects, and a constant object.
// options: -cl-std=CLC++2021
// needs: __opencl_c_generic_address_space
// range: 4 by 4
// in: int 1 2 3 4
// out: int 114 213 312 411
// out: int 4*1 4*2 4*3
struct number {
    int value;
    int space() const __global { return 1; }
    int space() const __local { return 2; }
    int space() const __private { return 3; }
};

struct plain {
    int a, b;
    constexpr int sum() const __constant { return a + b; }
};

__constant const plain hundreds{ 60, 40 };

int &larger(int &a, int &b)
{
    return a > b ? a : b;
}

kernel void test(__global const number *in, __global int *out, __global int *spaces)
{
    __local number shared[4];
    __local int most[4];
    size_t i = get_local_id(0);
    shared[i].value = in[i].value;
    most[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local number &other = shared[3 - i];
    number mine{ in[i].value };
    larger(most[i], mine.value) = hundreds.sum() * mine.value;
    out[i] = mine.value + 10 + other.value;
    spaces[i] = in[i].space();
    spaces[4 + i] = other.space();
    spaces[8 + i] = mine.space();
}
