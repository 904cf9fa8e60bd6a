// intel-graphics-compiler 349: an endless loop with a break, over boxes of local memory chosen by the work-item, crashed the compiler.
// range: 4 by 4
// in: uint 12 5 0 9
// out: uint 1 3 2 7 4 5 6 7 8 9 10 2*11 13 12 13 14 15 16 17 18 19 20 21 20 21 22 23 24 25 26 27 28 29 30 2*31 33 32 37 34 35 36 37 38 39 40 41
typedef struct {
    uint n_mails;
    uint mails[12];
} mailbox;

kernel void test(global const uint *counts, global uint *out)
{
    uint me = get_local_id(0);
    local mailbox boxes[2][4];
    for (uint i = 0; i < 12; i++)
        boxes[1][me].mails[i] = 10 * me + i;
    boxes[0][me].n_mails = 0;
    boxes[1][me].n_mails = counts[me];
    for (uint ix = 0; ix < 2; ix++) {
        local mailbox *box = &boxes[ix][me];
        uint i = 0;
        while (true) {
            uint swap = (i * 2) + 1;
            if (swap >= box->n_mails) {
                break;
            }
            box->mails[i] = box->mails[swap];
            i = swap;
        }
    }
    for (uint i = 0; i < 12; i++)
        out[me * 12 + i] = boxes[1][me].mails[i];
}
