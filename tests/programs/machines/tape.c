// A machine with a tape and eight instructions, loops found by counting brackets.
// words: 4 12
// run: private u8 1x8
// run: local u8 1x8
// run: global u16 2x2
#define WORKS 16
typedef element work_t;

TABLE(char) code[] = "+++++[>+++>++<<-]>>+<[->[->+>+<<]>>[-<<+>>]<<<]>>[->+<]>.<<<+++[>++.<-]>>.";

static void program(IN in, OUT out, MEM work_t *tape) {
    int head = 0, written = 0;
    u32 steps = 0;
    for (int i = 0; i < 16; i++)
        tape[i] = (element)(in[i % 4] >> 29);
    for (int at = 0; at < (int)sizeof code - 1 && steps < 4000; at++, steps++) {
        switch (code[at]) {
        case '>':
            head = (head + 1) & 15;
            break;
        case '<':
            head = (head + 15) & 15;
            break;
        case '+':
            tape[head]++;
            break;
        case '-':
            tape[head]--;
            break;
        case '.':
            if (written < 8)
                out[written++] = WORD_OF(tape[head]);
            break;
        case '[':
            if (tape[head] == 0)
                for (int depth = 1; depth > 0;) {
                    at++;
                    depth += (code[at] == '[') - (code[at] == ']');
                }
            break;
        case ']':
            if (tape[head] != 0)
                for (int depth = 1; depth > 0;) {
                    at--;
                    depth += (code[at] == ']') - (code[at] == '[');
                }
            break;
        }
    }
    while (written < 8)
        out[written++] = 0;
    u32 hash = 0;
    for (int i = 0; i < 16; i++)
        hash = hash * 31 + (u32)tape[i];
    out[8] = hash;
    out[9] = steps;
    out[10] = (u32)head;
    out[11] = 0;
}
