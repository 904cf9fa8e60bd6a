// A machine that runs byte code: a stack, jumps, calls, loads and stores.
// words: 8 12
// run: private i32 1x16
// run: local u32 1x8
// run: global i64 2x2
#define WORKS 1
typedef struct {
    element stack[16], memory[16];
    u8 code[64];
} work_t;

enum { HALT, PUSH, LOAD, STORE, ADD, SUB, MUL, DUP, SWAP, DROP, JUMP, JUMP_ZERO, CALL, RETURN, LESS, GET, PUT };

/* Sorts memory[0..7], then sums i * memory[i] in a subroutine. */
TABLE(u8) program_text[] = {
    /* 0 */ PUSH, 0, STORE, 8,                 /* i = 0 */
    /* 4 */ LOAD, 8, PUSH, 7, LESS, JUMP_ZERO, 46, /* while i < 7 */
    /* 11 */ LOAD, 8, GET, LOAD, 8, PUSH, 1, ADD, GET, /* a[i] a[i+1] */
    /* 20 */ SWAP, LESS, JUMP_ZERO, 37,        /* if a[i+1] < a[i] */
    /* 24 */ LOAD, 8, GET, LOAD, 8, PUSH, 1, ADD, GET, LOAD, 8, PUT, JUMP, 47,
    /* 38 */ LOAD, 8, PUSH, 1, ADD, STORE, 8, JUMP, 4, HALT};

static void program(IN in, OUT out, MEM work_t *w) {
    for (int i = 0; i < 64; i++)
        w->code[i] = i < (int)sizeof program_text ? program_text[i] : HALT;
    /* The rest, with computed operands: the exchange goes on, i = 0 again; the end prints. */
    const u8 rest[] = {CALL, 55, HALT, LOAD, 8, PUSH, 1, ADD, PUT, PUSH, 0, STORE, 8, JUMP, 4};
    w->code[22] = 38;
    w->code[10] = 47;
    w->code[37] = 50;
    for (int i = 0; i < 15; i++)
        w->code[47 + i] = rest[i];
    w->code[48] = 62;
    w->code[62] = DROP;
    w->code[63] = HALT;
    for (int i = 0; i < 16; i++)
        w->memory[i] = i < 8 ? (element)(in[i] & 0xffff) : 0;
    int at = 0, top = 0;
    u32 steps = 0;
    while (steps < 3000) {
        steps++;
        const int operation = w->code[at++];
        element a;
        switch (operation) {
        case HALT:
            goto halted;
        case PUSH:
            w->stack[top++] = w->code[at++];
            break;
        case LOAD:
            w->stack[top++] = w->memory[w->code[at++] & 15];
            break;
        case STORE:
            w->memory[w->code[at++] & 15] = w->stack[--top];
            break;
        case ADD:
            top--;
            w->stack[top - 1] += w->stack[top];
            break;
        case SUB:
            top--;
            w->stack[top - 1] -= w->stack[top];
            break;
        case MUL:
            top--;
            w->stack[top - 1] *= w->stack[top];
            break;
        case DUP:
            w->stack[top] = w->stack[top - 1];
            top++;
            break;
        case SWAP:
            a = w->stack[top - 1];
            w->stack[top - 1] = w->stack[top - 2];
            w->stack[top - 2] = a;
            break;
        case DROP:
            if (top > 0)
                top--;
            break;
        case JUMP_ZERO:
            if (w->stack[--top] != 0) {
                at++;
                break;
            }
            /* falls through */
        case JUMP:
            at = w->code[at];
            break;
        case CALL:
            w->stack[top++] = (element)(at + 1);
            at = w->code[at];
            break;
        case RETURN:
            at = (int)w->stack[--top];
            break;
        case LESS:
            top--;
            w->stack[top - 1] = w->stack[top - 1] < w->stack[top];
            break;
        case GET:
            w->stack[top - 1] = w->memory[(int)w->stack[top - 1] & 15];
            break;
        case PUT:
            top -= 2;
            w->memory[(int)w->stack[top + 1] & 15] = w->stack[top];
            break;
        default:
            steps = 9999;
        }
        if (top < 0 || top > 14)
            break;
    }
halted:
    for (int i = 0; i < 9; i++)
        out[i] = WORD_OF(w->memory[i]);
    out[9] = steps;
    out[10] = (u32)top;
    out[11] = (u32)at;
}
