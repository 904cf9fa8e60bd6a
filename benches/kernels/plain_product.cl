// As one writes it first: a row times a column for each element of the product.
kernel void multiply(global const float *a, global const float *b, global float *c, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        sum += a[row * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
}
