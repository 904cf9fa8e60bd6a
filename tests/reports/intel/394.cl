// compute-runtime 394: a store through an index that was loaded was not seen by a load of that element by its number.
// in: int 2 0 1
// value: float 4
// inout: float 8 12 20 -> float 2 3 5
// out: float 5
kernel void test(global const int *pivots, float first, global float *b, global float *seen)
{
    for (int row = 0; row < 3; row++) {
        b[pivots[row]] /= first;
        if (row == 0)
            *seen = b[2];
    }
}
