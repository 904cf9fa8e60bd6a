// llvm 55501: templates, constexpr members and references to arrays of a solver in C++ for OpenCL.
// options: -cl-std=CLC++
// in: float 1 2
// out: float 1.71875 3.77734375
struct ode {
    static constexpr int size = 2;
    static void solve(float t, const float *x, float *k, global const float *p)
    {
        for (int j = 0; j < size; j++)
            k[j] = p[j] + x[j] * t;
    }
};

template <int stages, class F>
struct solver {
    constexpr static int size = F::size;
    const float *weights;
    explicit solver(const float *weights) : weights(weights) {}
    void solve(const float (&x)[size], float (&next)[size], float t, float dt, global const float *p) const
    {
        float k[stages * size], at[size];
        for (int j = 0; j < size; j++)
            next[j] = at[j] = x[j];
        for (int i = 0; i < stages; i++) {
            float *row = &k[i * size];
            F::solve(t, at, row, p);
            for (int j = 0; j < size; j++) {
                at[j] = x[j] + dt * row[j];
                next[j] += dt * weights[i] * row[j];
            }
        }
    }
};

kernel void test(global const float *p, global float *out)
{
    const float weights[2] = { 0.5f, 0.75f };
    float x[2] = { 0.5f, 1.1875f }, next[2];
    solver<2, ode> one(weights);
    one.solve(x, next, 1.0f, 0.5f, p);
    out[0] = next[0];
    out[1] = next[1];
}
