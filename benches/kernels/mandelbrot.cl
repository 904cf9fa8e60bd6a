// After how many rounds each point of the plane has left the circle of radius two.
kernel void iterate(global uint *restrict rounds, uint width, float left, float top, float step, uint limit)
{
    uint column = get_global_id(0), row = get_global_id(1);
    float cx = left + step * column, cy = top + step * row;
    float x = 0.0f, y = 0.0f;
    uint round = 0;
    while (round < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        round++;
    }
    rounds[row * width + column] = round;
}
