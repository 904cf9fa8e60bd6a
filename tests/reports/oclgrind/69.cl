// oclgrind 69: a switch over two bits of a value became one over an integer of two bits.
// range: 8
// in: int 0 1 2 3 4 5 6 7
// out: int 10 21 12 43 10 21 12 43
kernel void test(global const int *in, global int *out)
{
    int i = get_global_id(0), region = in[i] & 3, result = 0;
    switch (region) {
    case 1:
        result = 20;
        break;
    case 3:
        result = 40;
        break;
    default:
        result = 10;
    }
    out[i] = result + region;
}
