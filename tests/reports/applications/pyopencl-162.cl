// PyOpenCL 162: elements of a packed structure in an array of arrays in local memory, inside a macro.
// range: 4 by 4
// in: int 0 7 1 8 2 9 3 10 4 11 5 12 6 0 7 1 8 2 9 3
// out: int 0 7 8 16 18 27 30 40 44 55 60 72 2*78 85 86 94 96 105 108
// value: int 20
#define K 5
#define WG_SIZE 4
#define SCAN_EXPR(a, b, across) ((across) ? (b) : (a) + (b))

kernel void test(global const int *in, global int *out, int n)
{
    struct __attribute__((__packed__)) wrapped {
        int value;
        char dummy;
    };
    local struct wrapped data[K + 1][WG_SIZE + 1];
    int lane = get_local_id(0);
    for (int k = 0; k < K; k++) {
        int offset = k * WG_SIZE + lane;
        if (offset < n) {
            data[offset % K][offset / K].value = in[offset];
            data[offset % K][offset / K].dummy = 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = data[0][lane].value;
    for (int k = 1; k < K; k++) {
        sum = SCAN_EXPR(sum, data[k][lane].value, false);
        data[k][lane].value = sum;
    }
    data[K][lane].value = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    int carry = 0;
    for (int i = 0; i < lane; i++)
        carry = SCAN_EXPR(carry, data[K][i].value, data[K][i].dummy == 77);
    for (int k = 0; k < K; k++)
        out[lane * K + k] = SCAN_EXPR(carry, data[k][lane].value, false);
}
