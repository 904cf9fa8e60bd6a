// OpenCL-Docs 736: constructors and destructors in order, copies, and lambdas that hold references.
// options: -cl-std=CLC++2021
// out: int 1 2 -2 3 -3 -1 11 0 0
// out: int 6 26
struct log {
    int *entries;
    int count = 0;
    explicit log(int *entries) : entries(entries) {}
    void add(int x) { entries[count++] = x; }
};

class guard {
    log &out;
    int id;

public:
    guard(log &out, int id) : out(out), id(id) { out.add(id); }
    guard(const guard &) = delete;
    ~guard() { out.add(-id); }
};

template <typename F>
int times(int n, F f)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

void run(log &l, bool early)
{
    guard one(l, 1);
    {
        guard two(l, 2);
    }
    for (int i = 3;; i++) {
        guard inner(l, i);
        if (early)
            return;
    }
}

kernel void test(global int *out, global int *sums)
{
    int entries[9] = {};
    log l(entries);
    run(l, true);
    l.add(11);
    for (int i = 0; i < 9; i++)
        out[i] = entries[i];
    int factor = 2;
    sums[0] = times(3, [&](int i) { return i * factor; });
    sums[1] = times(4, [factor](int i) mutable { return i * factor++; });
}
