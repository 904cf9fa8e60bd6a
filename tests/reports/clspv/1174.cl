// clspv 1174: a loop over an array of structures with an int and a long.
// inout: int 1 0 10 0 2 0 20 0 3 0 30 -1 4 0 40 0 -> int 2 0 11 0 2 0 22 0 3 0 33 -1 4 0 44 0
struct element {
    int i;
    long l;
};

struct all {
    struct element e[4];
};

kernel void test(global struct all *s)
{
    for (int i = 0; i < 4; ++i) {
        global struct element *e = &s->e[i];
        e->l += e->i;
    }
    s->e[0].i = s->e[1].i;
}
