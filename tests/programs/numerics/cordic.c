// Sines, cosines, angles and lengths by CORDIC in whole numbers.
// words: 8 32
// run: private i32 1x16
// run: local i32 1x8
#define WORKS 16
typedef i32 work_t;

TABLE(i32) angles[16] = {536870912, 316933406, 167458907, 85004756, 42667331, 21354465, 10679838, 5340245,
                         2670163, 1335087, 667544, 333772, 166886, 83443, 41722, 20861};

static void program(IN in, OUT out, MEM work_t *trace) {
    for (int n = 0; n < 8; n++) {
        i32 x = 652032874, y = 0, z = (i32)in[n] >> 1;
        int flipped = 0;
        if (z > 1073741823 / 2 * 2 - 1 || z < -1073741823) {
            z = z > 0 ? z - 1073741824 : z + 1073741824;
            flipped = 1;
        }
        for (int i = 0; i < 16; i++) {
            const i32 dx = x >> i, dy = y >> i;
            if (z >= 0) {
                x -= dy;
                y += dx;
                z -= angles[i] / 2;
            } else {
                x += dy;
                y -= dx;
                z += angles[i] / 2;
            }
            trace[i] = z;
        }
        out[4 * n] = (u32)(flipped ? -x : x);
        out[4 * n + 1] = (u32)(flipped ? -y : y);
        x = (i32)(in[n] >> 4 & 0xffffff) + 1;
        y = (i32)(in[(n + 1) & 7] >> 6) - 30000000;
        z = 0;
        for (int i = 0; i < 16; i++) {
            const i32 dx = x >> i, dy = y >> i;
            const i32 sign = y < 0 ? -1 : 1;
            x += sign * dy;
            y -= sign * dx;
            z += sign * (angles[i] >> 1) + (trace[i] & 0);
        }
        out[4 * n + 2] = (u32)x;
        out[4 * n + 3] = (u32)z;
    }
}
