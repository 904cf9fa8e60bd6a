// Bodies that attract each other, in tiles that a work-group shares.
// words: 64 64
// grouped: yes
// run: local f32 1x16
// run: global f32 2x16
// tolerance: 0.001 0.001
#define WORKS 1
typedef struct {
    struct { element x, y, vx, vy; } body[16];
    element ax[16], ay[16];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    EACH(i) {
        w->body[i].x = (element)(in[4 * i] % 64) / 4;
        w->body[i].y = (element)(in[4 * i + 1] % 64) / 4;
        w->body[i].vx = (element)(in[4 * i + 2] % 8) / 16;
        w->body[i].vy = (element)(in[4 * i + 3] % 8) / 16;
    }
    MEET();
    for (int step = 0; step < 3; step++) {
        EACH(i) {
            element ax = 0, ay = 0;
            for (int k = 0; k < 16; k++) {
                const element dx = w->body[k].x - w->body[i].x, dy = w->body[k].y - w->body[i].y;
                const element square = dx * dx + dy * dy + 1;
                const element pull = 1 / (square * sqrt(square));
                ax += dx * pull;
                ay += dy * pull;
            }
            w->ax[i] = ax;
            w->ay[i] = ay;
        }
        MEET();
        EACH(i) {
            w->body[i].vx += w->ax[i] / 8;
            w->body[i].vy += w->ay[i] / 8;
            w->body[i].x += w->body[i].vx / 8;
            w->body[i].y += w->body[i].vy / 8;
        }
        MEET();
    }
    EACH(i) {
        out[4 * i] = WORD_OF(w->body[i].x);
        out[4 * i + 1] = WORD_OF(w->body[i].y);
        out[4 * i + 2] = WORD_OF(w->body[i].vx);
        out[4 * i + 3] = WORD_OF(w->body[i].vy);
    }
}
