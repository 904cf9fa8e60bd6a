// clspv 1030: a member function that writes a vector of a structure in local memory through a pointer to int.
// options: -cl-std=CLC++
// needs: __opencl_c_generic_address_space
// range: 4 by 4
// out: int 6 10 14 18
// local: 64
struct storage {
    void set(const int value)
    {
        __generic int *elements = reinterpret_cast<__generic int *>(&vector);
        for (size_t i = 0; i < 4; ++i)
            elements[i] = value + static_cast<int>(i);
    }

    int sum() const { return vector.x + vector.y + vector.z + vector.w; }

    int4 vector;
};

kernel void test(global int *out, local storage *all)
{
    local storage *mine = all + get_local_linear_id();
    mine->set(static_cast<int>(get_global_linear_id()));
    out[get_global_linear_id()] = mine->sum();
}
