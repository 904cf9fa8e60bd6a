// clspv 1031: arrays of char and short in structures of local memory, filled by templates.
// options: -cl-std=CLC++
// inout: char 1 -2 3 -4 -> char 1 -2 1 -2
// inout: short 300 -400 5 6 -> short 300 -400 -400 300
// local: 48
struct storage {
    char i8[8];
    short i16[4];
};

template <typename Vector, typename T>
Vector loaded(global const T *p)
{
    Vector v;
    v.x = p[0];
    v.y = p[1];
    return v;
}

template <typename Vector, typename T>
void stored(const Vector v, local T *p)
{
    p[0] = v.x;
    p[1] = v.y;
}

kernel void test(global char *i8, global short *i16, local storage *all)
{
    if (get_local_linear_id() == 0) {
        stored<char2, char>(loaded<char2, char>(i8), &all[1].i8[3]);
        stored<short2, short>(loaded<short2, short>(i16), &all[2].i16[1]);
        i8[2] = all[1].i8[3];
        i8[3] = all[1].i8[4];
        i16[2] = all[2].i16[2];
        i16[3] = all[2].i16[1];
    }
}
