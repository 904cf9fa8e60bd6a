// John the Ripper 5709: the second padding of a keyed hash, in a union of words and bytes, was wrong for an empty message.
// range: 2
// in: uchar 1 2 3 4 5 6 7 8
// value: uint 0
// out: uint 0x37343532 0x3330313e 2*0x36363636 0x5d5e5f58 0x595a5b54 2*0x5c5c5c5c 0x37343532 0x3330313e 2*0x36363636 0x5d5e5f58 0x595a5b54 2*0x5c5c5c5c
typedef struct {
    uint total;
    uchar buffer[16];
} context;

uint word(const uchar *b)
{
    return (uint)b[0] << 24 | (uint)b[1] << 16 | (uint)b[2] << 8 | b[3];
}

void update(context *c, const uchar *data, uint length)
{
    for (uint i = 0; i < length; i++)
        c->buffer[(c->total + i) & 15] = data[i];
    c->total += length;
}

kernel void test(global const uchar *key, uint message_length, global uint *out)
{
    union {
        uint words[4];
        uchar bytes[16];
    } u;
    context c;
    uint id = get_global_id(0), i;
    c.total = 0;
    for (i = 0; i < 4; i++)
        u.words[i] = 0x36363636;
    for (i = 0; i < 8; i++)
        u.bytes[i] ^= key[i];
    update(&c, u.bytes, 16);
    if (message_length)
        update(&c, u.bytes, message_length);
    for (i = 0; i < 4; i++)
        out[id * 8 + i] = word(c.buffer + 4 * i);
    c.total = 0;
    for (i = 0; i < 4; i++)
        u.words[i] ^= (0x36363636 ^ 0x5c5c5c5c);
    update(&c, u.bytes, 16);
    for (i = 0; i < 4; i++)
        out[id * 8 + 4 + i] = word(c.buffer + 4 * i);
}
