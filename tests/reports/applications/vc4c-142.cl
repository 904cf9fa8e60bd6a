// VC4C 142: a vector of two parts of another, loaded at no multiple of its size, and of zeros.
// in: uchar 0 5 10 15 20 25 30 35 40 45 50 55 60 65 70 75 80 85 90 95 100 105 110 115 120 125 130 135 140 145 150 155 160 165 170 175 180 185 190 195
// out: uchar 35 40 45 50 55 60 65 70 75 80 85 90 4*0 115 120 125 130 135 140 145 150 155 160 165 170 4*0
kernel void test(global const uchar *in, global uchar *out)
{
    for (int x = 0; x < 2; x++) {
        uchar4 right = (uchar4)(0);
        uchar16 center = vload16(x, in + 3);
        uchar16 r = (uchar16)(center.s456789AB, center.sCDEF, right);
        vstore16(r, x, out);
    }
}
