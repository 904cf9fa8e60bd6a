// Doubles, which a device may lack.
kernel void doubles(global half *h, global double2 *d, global long *l) {
    vstore_half2(d[0], 7, h);
    d[1] = convert_double2(convert_long2_rtn(d[2])) + sqrt(d[3]);
    l[0] = d[4].x < d[4].y;
}
