// VC4CL 41: the angle of two coordinates in all quarters.
// range: 8
// in: float 0 2 -4 4 6 8 21 13 15 -13 -9 -11 8 0 -3 0
// out: float near 1e-6 1.5707963705062866 2.356194496154785 0.9272952079772949 0.5543075203895569 -0.7140907049179077 -2.256525754928589 0.0 3.1415927410125732
// out: float near 1e-6 0.5 0.75 0.2951672375202179 0.17644155025482178 -0.22730213403701782 -0.7182744741439819 0.0 1.0
kernel void test(global const float2 *in, global float *out, global float *in_pi)
{
    int i = get_global_id(0);
    out[i] = atan2(in[i].y, in[i].x);
    in_pi[i] = atan2pi(in[i].y, in[i].x);
}
