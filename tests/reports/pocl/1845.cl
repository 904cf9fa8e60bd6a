// pocl 1845: a search along a line, up or down, until the distance grows, became an illegal instruction.
// range: 4
// in: float 3 7 2*0 -5 2 10 -4
// out: float 0.25 0 29 115.25
float squared(float x1, float y1, float x2, float y2)
{
    return (x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2);
}

float nearest(float gradient, float line_x, float line_y, float x, float y)
{
    float start = squared(line_x, line_y, x, y);
    float next = squared(line_x + gradient, line_y + 1, x, y);
    if (next < start) {
        float found = 0, following = next;
        line_x += gradient;
        ++line_y;
        do {
            found = following;
            line_x += gradient;
            ++line_y;
            following = squared(line_x, line_y, x, y);
        } while (following < found);
        return found;
    }
    float found = 0, following = start;
    do {
        found = following;
        line_x -= gradient;
        --line_y;
        following = squared(line_x, line_y, x, y);
    } while (following < found);
    return found;
}

kernel void test(global const float2 *points, global float *out)
{
    int i = get_global_id(0);
    out[i] = nearest(0.5f, 1.0f, 2.0f, points[i].x, points[i].y);
}
