// clspv 688: sizes and offsets of structures with three-component vectors.
// out: uint 32 16 48 16 4 8 32
// out: uint 2 1 32
typedef struct {
    float3 color;
    uint flags;
} material;

typedef struct {
    uchar3 pixel;
    uchar after;
} pixel;

kernel void test(global uint *out, global uint *offsets)
{
    out[0] = sizeof(material);
    out[1] = __builtin_offsetof(material, flags);
    out[2] = sizeof(material) + sizeof(float3);
    out[3] = sizeof(float3);
    out[4] = sizeof(uchar3);
    out[5] = sizeof(pixel);
    out[6] = sizeof(long3);
    local material two[2];
    offsets[0] = sizeof(two) / sizeof(*two);
    offsets[1] = (local uchar *)&two[1].color != (local uchar *)&two[0].color + 16;
    offsets[2] = (local uchar *)&two[1] - (local uchar *)&two[0];
}
