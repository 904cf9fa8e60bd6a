// Mandelbulber 491: a structure, copied as a whole in a case of a switch in a loop, was an impossible store of its bytes.
// in: float 4 2 3 1
// in: int 0 1 0 2
// out: float 1 4 9
// out: int 6 14 1 77
typedef struct {
    float4 z;
    int iterations;
    float distance;
    uchar object;
    char found;
    short code;
} result;

kernel void test(global const float *distances, global const int *operators, global float *out, global int *numbers)
{
    result best, mine;
    best.z = (float4)(0.0f);
    best.iterations = 0;
    best.distance = 0.0f;
    best.object = 0;
    best.found = 0;
    best.code = 77;
    float distance = MAXFLOAT;
    for (int i = 0; i < 4; i++) {
        mine = best;
        mine.z = (float4)(distances[i] * distances[i]);
        mine.iterations = i + 11;
        mine.distance = distances[i];
        mine.found = distances[i] < distance;
        switch (operators[i]) {
        case 0:
            if (distances[i] < distance) {
                mine.object = 1 + i;
                best = mine;
            }
            distance = min(distances[i], distance);
            break;
        case 1:
            if (distances[i] > distance)
                best = mine;
            distance = max(distances[i], distance);
            break;
        case 2: {
            result other = best;
            best = mine;
            best.z.y = 4.0f;
            best.z.z = 9.0f;
            best.object = other.object + 3;
            distance = distances[i];
            break;
        }
        }
    }
    out[0] = best.z.x * best.distance;
    out[1] = best.z.y;
    out[2] = best.z.z;
    numbers[0] = best.object;
    numbers[1] = best.iterations;
    numbers[2] = best.found;
    numbers[3] = best.code;
}
