// clspv 1185: members of structures within structures within an array, written by their names.
// inout: int 9 9 9 9 -> int 1 2 3 9
struct point {
    int x, y;
};

struct element {
    struct point v;
};

struct all {
    struct element e[2];
};

kernel void test(global struct all *s)
{
    s->e[0].v.x = 1;
    s->e[0].v.y = 2;
    s->e[1].v.x = 3;
}
