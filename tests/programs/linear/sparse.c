// Products of a sparse matrix in rows with a vector, its transpose made by counting, and powers of the product.
// words: 48 16
// run: private i32 1x8
// run: local f32 1x8
// run: global u8 1x4
#define WORKS 1
typedef struct {
    u8 row[9], column[24], row_t[9], column_t[24];
    element value[24], value_t[24], x[8], y[8];
} work_t;

static void program(IN in, OUT out, MEM work_t *w) {
    int count = 0;
    for (int i = 0; i < 8; i++) {
        w->row[i] = (u8)count;
        for (int k = 0; k < 3; k++) {
            if (in[3 * i + k] & 16)
                continue;
            w->column[count] = (u8)(in[3 * i + k] & 7);
            w->value[count++] = (element)(in[3 * i + k] >> 8 & 7);
        }
        w->x[i] = (element)(in[24 + i] & 15);
        w->row_t[i] = 0;
    }
    w->row[8] = (u8)count;
    w->row_t[8] = 0;
    for (int k = 0; k < count; k++)
        w->row_t[w->column[k] + 1]++;
    for (int i = 0; i < 8; i++)
        w->row_t[i + 1] += w->row_t[i];
    for (int i = 0; i < 8; i++)
        for (int k = w->row[i]; k < w->row[i + 1]; k++) {
            const int at = w->row_t[w->column[k]]++;
            w->column_t[at] = (u8)i;
            w->value_t[at] = w->value[k];
        }
    for (int i = 8; i > 0; i--)
        w->row_t[i] = w->row_t[i - 1];
    w->row_t[0] = 0;
    for (int i = 0; i < 8; i++) {
        element sum = 0;
        for (int k = w->row[i]; k < w->row[i + 1]; k++)
            sum += w->value[k] * w->x[w->column[k]];
        w->y[i] = sum;
        out[i] = WORD_OF(sum);
    }
    for (int i = 0; i < 8; i++) {
        element sum = 0;
        for (int k = w->row_t[i]; k < w->row_t[i + 1]; k++)
            sum += w->value_t[k] * w->y[w->column_t[k]];
        out[8 + i] = WORD_OF(sum);
    }
}
