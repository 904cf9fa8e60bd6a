// clspv 652: vectors of eight and sixteen in a branch that always runs.
// out: float 1 6 8
kernel void test(global float *state)
{
    float8 vector;
    float16 more = 0.0f;
    int id = 0;
    if (id == 0) {
        vector = (float8)(1.0f);
        more.odd = vector * 3;
        more.hi += 1;
    }
    state[0] = vector.s0;
    state[1] = more.s1 + more.s3 + more.s4;
    state[2] = more.sF + more.sE + more.sd - 1 + dot(more.lo.lo, more.lo.hi) * 0;
}
