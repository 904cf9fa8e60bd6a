// pocl 2174: the alignments of vectors were not those of the specification.
// out: uint 2 2*4 8 16 4 2*8 16 32 8 2*16 32 64 16 2*32 64 128
// out: uint 8 2*16 32 64
// out: uint 16 48 8 32
#define ALIGNMENTS(type) __alignof__(type##2), __alignof__(type##3), __alignof__(type##4), __alignof__(type##8), __alignof__(type##16)
struct with_three {
    char first;
    float3 three;
    char last;
};
struct with_long {
    char first;
    int2 two;
    short4 four;
    char last;
};

kernel void test(global uint *integers, global uint *floats, global uint *structs)
{
    const uint of_integers[] = { ALIGNMENTS(char), ALIGNMENTS(ushort), ALIGNMENTS(int), ALIGNMENTS(ulong) };
    const uint of_floats[] = { ALIGNMENTS(float) };
    for (int i = 0; i < 20; i++)
        integers[i] = of_integers[i];
    for (int i = 0; i < 5; i++)
        floats[i] = of_floats[i];
    structs[0] = __alignof__(struct with_three);
    structs[1] = sizeof(struct with_three);
    structs[2] = __alignof__(struct with_long);
    structs[3] = sizeof(struct with_long);
}
