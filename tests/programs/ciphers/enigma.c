// A rotor machine.
// words: 24 24
// run: private u8 1x16
// run: local i16 1x8
#define WORKS 1
typedef struct {
    element rotor[3][26], back[3][26], reflector[26];
    i8 position[3];
} work_t;

static int wrap(int x) {
    while (x < 0)
        x += 26;
    while (x >= 26)
        x -= 26;
    return x;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 26; i++) {
            const int to = (i * (2 * k + 3) + 5 * k + 1) % 26;
            w->rotor[k][i] = (element)to;
            w->back[k][to] = (element)i;
        }
        w->position[k] = (i8)(in[k] % 26);
    }
    for (int i = 0; i < 26; i++)
        w->reflector[i] = (element)(25 - i);
    for (int n = 0; n < 24; n++) {
        for (int k = 0; k < 3; k++) {
            if (++w->position[k] < 26)
                break;
            w->position[k] = 0;
        }
        int c = (int)(in[n] >> 8) % 26;
        if (c < 0)
            c = -c;
        for (int k = 0; k < 3; k++)
            c = wrap(w->rotor[k][wrap(c + w->position[k])] - w->position[k]);
        c = w->reflector[c];
        for (int k = 2; k >= 0; k--)
            c = wrap(w->back[k][wrap(c + w->position[k])] - w->position[k]);
        out[n] = (u32)('A' + c);
    }
}
