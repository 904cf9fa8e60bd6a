// clspv 1176: one element of an array copied over another in the same structure crashed the compiler.
// inout: int 1 2 3 4 5 6 -> int 4 5 6 4 5 6
// inout: int 1 2 3 4 5 6 -> int 1 2 3 1 2 3
// inout: int 9 1 2 3 4 5 6 7 8 9 10 11 12 -> int 9 5 6 7 8 5 6 7 8 9 10 11 12
struct three {
    int a, b, c;
};

struct pair {
    struct three e[2];
};

struct four {
    int a, b, c, d;
};

struct shifted {
    int first;
    struct four e[3];
};

kernel void test(global struct pair *back, global struct pair *forth, global struct shifted *shifted)
{
    back->e[0] = back->e[1];
    forth->e[1] = forth->e[0];
    shifted->e[0] = shifted->e[1];
}
