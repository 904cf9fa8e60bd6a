// clspv 1220: a kernel that calls other kernels, with constants in program scope.
// range: 4 by 4
// inout: int 1 2 3 4 -> int 22 36 50 64
constant int weights[4] = { 3, 5, 7, 9 };

kernel void scaled(global int *data)
{
    int i = get_global_id(0);
    data[i] *= weights[i & 3] - 2 * i;
}

kernel void raised(global int *data, int by, local int *unused)
{
    data[get_global_id(0)] += by;
}

kernel void test(global int *data)
{
    local int scratch[4];
    scaled(data);
    raised(data, 8, scratch);
    int i = get_global_id(0);
    data[i] *= 2 - (i < 0);
    raised(data, i * 8, scratch);
}
