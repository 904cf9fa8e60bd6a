// clspv 723: a constant array of the function whose initializer names its first element alone.
// range: 10
// out: uint 7 0*9
typedef uint numbers[10];

uint chosen(uint i)
{
    const numbers one = { 7 };
    return one[i];
}

kernel void test(global uint *out)
{
    out[get_global_id(0)] = chosen(get_global_id(0));
}
