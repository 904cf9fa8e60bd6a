// Rotations by quaternions and matrices, projection, spherical and cylindrical coordinates.
// words: 12 36
// run: private f32 1x16
// run: local f32 1x8
// run: global f64 1x2
// tolerance: 0.001 0.001
#define WORKS 1
typedef struct {
    element m[4][4], n[4][4];
} work_t;

typedef struct {
    element w, x, y, z;
} quaternion;

static quaternion times(quaternion a, quaternion b) {
    quaternion r;
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    return r;
}

static void program(IN in, OUT out, MEM work_t *w) {
    for (int k = 0; k < 4; k++) {
        quaternion q = {(element)(in[k] & 7) + 1, (element)(in[k] >> 3 & 7), (element)(in[k] >> 6 & 7), (element)(in[k] >> 9 & 7)};
        const element length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        q.w /= length, q.x /= length, q.y /= length, q.z /= length;
        const quaternion back = {q.w, -q.x, -q.y, -q.z};
        const quaternion v = {0, (element)(in[4 + k] & 63), (element)(in[4 + k] >> 6 & 63), (element)(in[4 + k] >> 12 & 63) + 1};
        const quaternion turned = times(times(q, v), back);
        const element list[4] = {q.w, q.x, q.y, q.z};
        for (int i = 1; i < 4; i++)
            for (int j = 1; j < 4; j++) {
                const int third = 6 - i - j;
                if (i == j) {
                    element sum = 0;
                    for (int o = 1; o < 4; o++)
                        if (o != i)
                            sum += list[o] * list[o];
                    w->m[i][j] = 1 - 2 * sum;
                } else {
                    const element sign = (i % 3) + 1 == j ? -1 : 1;
                    w->m[i][j] = 2 * (list[i] * list[j] + sign * list[0] * list[third]);
                }
            }
        const element p[4] = {0, v.x, v.y, v.z};
        element r[4];
        for (int i = 1; i < 4; i++) {
            r[i] = 0;
            for (int j = 1; j < 4; j++)
                r[i] += w->m[i][j] * p[j];
        }
        out[9 * k] = WORD_OF(turned.x);
        out[9 * k + 1] = WORD_OF(turned.y);
        out[9 * k + 2] = WORD_OF(turned.z);
        for (int i = 0; i < 3; i++)
            out[9 * k + 3 + i] = WORD_OF(r[i + 1]);
        const element radius = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
        const element azimuth = (element)(in[8 + k] & 255) / 41, height = (element)(in[8 + k] >> 8 & 255) / 82;
        out[9 * k + 6] = WORD_OF(radius * sin(height) * cos(azimuth));
        out[9 * k + 7] = WORD_OF(radius * sin(height) * sin(azimuth));
        out[9 * k + 8] = WORD_OF(v.x / v.z);
    }
}
