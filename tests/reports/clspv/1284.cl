// clspv 1284: a choice by a signed byte that a comparison made gave zero on one driver.
// range: 4
// in: char -1 0 5 -128
// in: float 1 2 3 4
// in: float 10
// out: float 10 2 3 10
kernel void test(global const char *faces, global const float *hits, global const float *light, global float *out)
{
    size_t i = get_global_id(0);
    const char face = faces[i];
    const char bounced = face >= 0 ? 1 : 0;
    out[i] = bounced ? hits[i] : light[0];
}
