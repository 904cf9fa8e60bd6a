// John the Ripper 5205: arrays as parameters, and pointers into them, did not build where pointers are generic by default.
// in: uint 1 2 3 4
// out: uint 11 22 33 44 10
void scale(const uint in[4], uint out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = in[i] * 11;
}

uint total(const uint *data, uint n)
{
    uint sum = 0;
    while (n--)
        sum += *data++;
    return sum;
}

typedef struct {
    uint buffer[4];
} context;

void process(context *c, const uint data[4])
{
    scale(data, c->buffer);
}

kernel void test(global const uint *in, global uint *out)
{
    uint data[4];
    context c;
    for (int i = 0; i < 4; i++)
        data[i] = in[i];
    process(&c, data);
    for (int i = 0; i < 4; i++)
        out[i] = c.buffer[i];
    out[4] = total(data, 4);
}
