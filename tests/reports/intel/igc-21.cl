// intel-graphics-compiler 21: a load through a pointer with an offset, by a loaded index, gave zeros.
// range: 24
// in: int 0 7 14 21 4 11 18 1 8 15 22 5 12 19 2 9 16 23 6 13 20 3 10 17
// in: float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71
// value: int 24 2
// out: float 48 55 62 69 52 59 66 49 56 63 70 53 60 67 50 57 64 71 54 61 68 51 58 65
kernel void test(global const int *index, global const float *table, int2 size_and_row, global float *out)
{
    int i = get_global_id(0);
    global const float *row = table + size_and_row.x * size_and_row.y;
    out[i] = row[index[i]];
}
