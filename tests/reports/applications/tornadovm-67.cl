// TornadoVM 67: of eight values that are read first and written in another order, some were read after the writes.
// range: 2
// inout: float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 -> float 0 20 10 30 40 60 50 70 80 100 90 110 120 140 130 150
kernel void test(global float *data)
{
    int first = get_global_id(0) * 8;
    float a = data[first], b = data[first + 1], c = data[first + 2], d = data[first + 3];
    float e = data[first + 4], f = data[first + 5], g = data[first + 6], h = data[first + 7];
    data[first] = a * 10;
    data[first + 2] = b * 10;
    data[first + 1] = c * 10;
    data[first + 3] = d * 10;
    data[first + 4] = e * 10;
    data[first + 6] = f * 10;
    data[first + 5] = g * 10;
    data[first + 7] = h * 10;
}
