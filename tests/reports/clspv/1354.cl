// clspv 1354: a structure with a generic pointer, made of a pointer to global memory.
// options: -cl-std=CLC++
// needs: __opencl_c_generic_address_space
// range: 4
// inout: float 1 2 3 4 -> float 3 5 7 9
struct view {
    float *data;
    uint first;
    float &operator[](uint i) const { return data[first + i]; }
};

kernel void test(global float *values)
{
    view all{ values, (uint)get_global_id(0) };
    all[0] = 2 * all[0] + 1;
}
