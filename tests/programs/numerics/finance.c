// A binomial tree of an option's price, interest with cents rounded to even, and a moving regression.
// words: 12 26
// run: private f32 1x8
// run: local f32 1x8
// tolerance: 0.001 0.01
#define WORKS 17
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *value) {
    for (int n = 0; n < 4; n++) {
        const element spot = (element)(in[n] % 50 + 75), strike = 100, up = (element)1.03125f;
        const element down = 1 / up, growth = (element)1.001f, p = (growth - down) / (up - down);
        element price = spot;
        for (int i = 0; i < 16; i++)
            price *= down;
        for (int i = 0; i <= 16; i++) {
            value[i] = price > strike ? 0 : strike - price;
            price *= up * up;
        }
        for (int step = 15; step >= 0; step--) {
            element lowest = spot;
            for (int i = 0; i < step; i++)
                lowest *= down;
            for (int i = 0; i <= step; i++) {
                const element held = (p * value[i + 1] + (1 - p) * value[i]) / growth, now = strike - lowest;
                value[i] = held > now ? held : now;
                lowest *= up * up;
            }
        }
        out[n] = WORD_OF(value[0]);
    }
    i64 cents = (i64)(in[4] % 1000000);
    for (int month = 0; month < 12; month++) {
        const i64 product = cents * (i64)(1000 + in[5] % 20);
        i64 quotient = product / 1000;
        const i64 rest = product % 1000;
        if (rest > 500 || (rest == 500 && quotient & 1))
            quotient++;
        cents = quotient - 500;
    }
    out[4] = WORD_OF((element)(cents % 4096));
    out[5] = WORD_OF((element)(cents / 4096));
    for (int n = 0; n < 20; n++) {
        element sx = 0, sy = 0, sxy = 0, sxx = 0;
        for (int k = 0; k < 8; k++) {
            const element x = (element)k, y = (element)(in[(n + k) % 12] >> n & 63);
            sx += x;
            sy += y;
            sxy += x * y;
            sxx += x * x;
        }
        out[6 + n] = WORD_OF((8 * sxy - sx * sy) / (8 * sxx - sx * sx));
    }
}
