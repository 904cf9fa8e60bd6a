// Rays against spheres, a plane and boxes; the nearest one, with structures by value.
// words: 32 32
// run: private f32 1x16
// run: global f32 1x4
// run: private f64 1x4
// tolerance: 0.001 0.001
#define WORKS 4
typedef struct {
    element x, y, z;
} vector;
typedef struct {
    vector centre;
    element radius;
} work_t;

static vector minus(vector a, vector b) {
    vector r = {a.x - b.x, a.y - b.y, a.z - b.z};
    return r;
}

static element dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static element sphere(vector from, vector way, work_t s) {
    const vector to = minus(from, s.centre);
    const element b = dot(to, way), c = dot(to, to) - s.radius * s.radius, a = dot(way, way), d = b * b - a * c;
    if (d < 0)
        return -1;
    const element t = (-b - sqrt(d)) / a;
    return t > 0 ? t : -1;
}

static element box(vector from, vector way, element size) {
    element near = 0, far = 1000;
    element o[3] = {from.x, from.y, from.z}, d[3] = {way.x, way.y, way.z};
    for (int i = 0; i < 3; i++) {
        if (d[i] == 0) {
            if (o[i] < -size || o[i] > size)
                return -1;
            continue;
        }
        element a = (-size - o[i]) / d[i], b = (size - o[i]) / d[i];
        if (a > b) {
            const element t = a;
            a = b;
            b = t;
        }
        near = MAX(near, a);
        far = MIN(far, b);
        if (near > far)
            return -1;
    }
    return near;
}

static void program(IN in, OUT out, MEM work_t *spheres) {
    for (int i = 0; i < 4; i++) {
        spheres[i].centre.x = (element)(in[i] & 15) - 8;
        spheres[i].centre.y = (element)(in[i] >> 4 & 15) - 8;
        spheres[i].centre.z = (element)(in[i] >> 8 & 15) + 4;
        spheres[i].radius = (element)(in[i] >> 12 & 3) + 2 + (element)0.25f;
    }
    for (int n = 0; n < 16; n++) {
        const vector from = {0, 0, -8};
        const vector way = {(element)((int)(in[n] & 31) - 16) / 16, (element)((int)(in[n] >> 5 & 31) - 16) / 16, 1};
        element nearest = 1000;
        int what = -1;
        for (int i = 0; i < 4; i++) {
            const element t = sphere(from, way, spheres[i]);
            if (t < 0 || t >= nearest)
                continue;
            nearest = t;
            what = i;
        }
        const element t = box(from, way, 3);
        if (t >= 0 && t < nearest) {
            nearest = t;
            what = 4;
        }
        if (way.y < 0 && what < 0) {
            nearest = -4 / way.y;
            what = 5;
        }
        out[2 * n] = WORD_OF(nearest);
        out[2 * n + 1] = WORD_OF((element)what);
    }
}
