// A processor with eight registers, flags and words of instructions that the input makes.
// words: 32 12
// run: private u32 2x16
// run: local u16 1x8
// run: global u64 1x4
#define WORKS 8
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *r) {
    u32 at = 0, steps = 0, flags = 0, taken = 0;
    for (u32 i = 0; i < 8; i++)
        r[i] = (element)(in[i] >> 16);
    while (steps++ < 200) {
        const u32 word = in[at & 31], d = word & 7, a = word >> 3 & 7, b = word >> 6 & 7;
        const element x = r[a], y = r[b];
        element result = 0;
        at++;
        switch (word >> 9 & 15) {
        case 0:
            result = (element)(x + y);
            break;
        case 1:
            result = (element)(x - y);
            flags = (flags & ~2u) | (x < y ? 2u : 0);
            break;
        case 2:
            result = x & y;
            break;
        case 3:
            result = x | y;
            break;
        case 4:
            result = x ^ y;
            break;
        case 5:
            result = (element)(x << (word >> 13 & 15));
            break;
        case 6:
            result = (element)(x >> (word >> 13 & 15));
            break;
        case 7:
            result = (element)((u64)x * y);
            break;
        case 8:
            if (y == 0)
                continue;
            result = x / y;
            break;
        case 9:
            if (flags & 1)
                break;
            at += word >> 13 & 7;
            taken++;
            continue;
        case 10:
            if (!(flags & 2))
                continue;
        case 11:
            at -= word >> 13 & 3;
            taken++;
            continue;
        case 12:
            result = (element)~x;
            break;
        case 13:
            r[b] = x;
            result = y;
            break;
        default:
            result = (element)(word >> 8);
        }
        r[d] = result;
        flags = (flags & ~1u) | (result == 0);
    }
    for (int i = 0; i < 8; i++)
        out[i] = WORD_OF(r[i]);
    out[8] = at;
    out[9] = flags;
    out[10] = taken;
    out[11] = steps;
}
