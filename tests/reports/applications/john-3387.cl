// John the Ripper 3387: members of an anonymous union in a structure were misplaced.
// in: uchar 1 2 3 4 5 6 7 8
// out: uint 0x04030201 0x08070605 3 99 12
typedef struct {
    uint length;
    union {
        uchar bytes[8];
        uint words[2];
    };
} text;

kernel void test(global const uchar *in, global uint *out)
{
    text t;
    t.length = 3;
    for (int i = 0; i < 8; i++)
        t.bytes[i] = in[i];
    out[0] = t.words[0];
    out[1] = t.words[1];
    out[2] = t.length;
    t.words[1] = 99;
    out[3] = t.bytes[4];
    out[4] = sizeof(text);
}
