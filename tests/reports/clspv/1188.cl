// clspv 1188: a loop that sets the only member of each structure in a long array, a char or a short.
// inout: char 100*7 3 -> char 100*1 3
// inout: short 200*-7 3 -> short 200*1 3
struct small {
    char i;
};

struct medium {
    short i;
};

struct chars {
    struct small e[100];
};

struct shorts {
    struct medium e[200];
};

kernel void test(global struct chars *chars, global struct shorts *shorts)
{
    for (int i = 0; i < 100; ++i) {
        struct small e = chars->e[i];
        e.i = 1;
        chars->e[i] = e;
    }
    for (int i = 0; i < 200; ++i) {
        struct medium e = shorts->e[i];
        e.i = 1;
        shorts->e[i] = e;
    }
}
