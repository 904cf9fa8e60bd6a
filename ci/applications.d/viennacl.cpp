// ViennaCL with kernels against plain loops: vectors, dense and sparse products, triangular and iterative solvers.
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "viennacl/compressed_matrix.hpp"
#include "viennacl/ell_matrix.hpp"
#include "viennacl/linalg/bicgstab.hpp"
#include "viennacl/linalg/cg.hpp"
#include "viennacl/linalg/direct_solve.hpp"
#include "viennacl/linalg/inner_prod.hpp"
#include "viennacl/linalg/lu.hpp"
#include "viennacl/linalg/norm_2.hpp"
#include "viennacl/linalg/norm_inf.hpp"
#include "viennacl/linalg/prod.hpp"
#include "viennacl/matrix.hpp"
#include "viennacl/vector.hpp"

namespace {

std::mt19937 generator(7);
int tried, failed;

template <typename T> T number() { return std::uniform_real_distribution<T>(-1, 1)(generator); }

template <typename T> void expect(const char *what, T found, T right, T limit) {
    ++tried;
    T scale = std::max<T>(1, std::fabs(right));
    if (!(std::fabs(found - right) <= limit * scale)) {
        ++failed;
        std::printf("%s<%s>: %.9g, not %.9g\n", what, sizeof(T) == 8 ? "double" : "float", double(found), double(right));
    }
}

template <typename T> void vectors(T limit) {
    const std::size_t n = 10007;
    std::vector<T> a(n), b(n), out(n);
    for (std::size_t i = 0; i < n; i++) a[i] = number<T>(), b[i] = number<T>();
    viennacl::vector<T> x(n), y(n), z(n);
    viennacl::copy(a, x);
    viennacl::copy(b, y);
    T dot = 0, squares = 0, largest = 0;
    for (std::size_t i = 0; i < n; i++) {
        dot += a[i] * b[i], squares += a[i] * a[i];
        largest = std::max(largest, std::fabs(a[i]));
    }
    expect<T>("inner_prod", viennacl::linalg::inner_prod(x, y), dot, 100 * limit);
    expect<T>("norm_2", viennacl::linalg::norm_2(x), std::sqrt(squares), 10 * limit);
    expect<T>("norm_inf", viennacl::linalg::norm_inf(x), largest, 0);
    z = T(2) * x + y / T(4);
    z += viennacl::linalg::element_prod(x, y);
    viennacl::copy(z, out);
    for (std::size_t i = 0; i < n; i += 97) expect<T>("expression", out[i], 2 * a[i] + b[i] / 4 + a[i] * b[i], limit);
}

template <typename T> void dense(T limit) {
    const std::size_t n = 130, k = 70, m = 95;
    std::vector<std::vector<T>> a(n, std::vector<T>(k)), b(k, std::vector<T>(m)), c(n, std::vector<T>(m));
    for (auto &row : a) for (T &value : row) value = number<T>();
    for (auto &row : b) for (T &value : row) value = number<T>();
    viennacl::matrix<T> x(n, k), y(k, m), z(n, m);
    viennacl::copy(a, x);
    viennacl::copy(b, y);
    z = viennacl::linalg::prod(x, y);
    viennacl::copy(z, c);
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t j = 0; j < m; j++) {
            T right = 0;
            for (std::size_t l = 0; l < k; l++) right += a[i][l] * b[l][j];
            expect<T>("prod", c[i][j], right, 100 * limit);
        }
}

template <typename T> void solvers(T limit) {
    const std::size_t n = 120;
    std::vector<std::vector<T>> a(n, std::vector<T>(n));
    std::vector<T> right(n), product(n), out(n);
    for (std::size_t i = 0; i < n; i++) {
        for (T &value : a[i]) value = number<T>();
        a[i][i] += 2 * T(n);
        right[i] = number<T>();
    }
    for (std::size_t i = 0; i < n; i++) for (std::size_t j = 0; j < n; j++) product[i] += a[i][j] * right[j];
    viennacl::matrix<T> matrix(n, n);
    viennacl::vector<T> x(n);
    viennacl::copy(a, matrix);
    viennacl::copy(product, x);
    viennacl::linalg::lu_factorize(matrix);
    viennacl::linalg::lu_substitute(matrix, x);
    viennacl::copy(x, out);
    for (std::size_t i = 0; i < n; i++) expect<T>("lu", out[i], right[i], 100 * limit);
}

template <typename T, typename Matrix> void sparse(const char *what, T limit) {
    const unsigned side = 20, n = side * side;
    std::vector<std::map<unsigned, T>> a(n);
    std::vector<T> right(n), product(n), out(n);
    for (unsigned i = 0; i < n; i++) {
        a[i][i] = T(4.5);
        if (i % side) a[i][i - 1] = -1;
        if ((i + 1) % side) a[i][i + 1] = -1;
        if (i >= side) a[i][i - side] = -1;
        if (i + side < n) a[i][i + side] = -1;
        right[i] = number<T>();
    }
    for (unsigned i = 0; i < n; i++) for (auto &entry : a[i]) product[i] += entry.second * right[entry.first];
    Matrix matrix;
    viennacl::copy(a, matrix);
    viennacl::vector<T> x(n), y(n);
    viennacl::copy(right, x);
    y = viennacl::linalg::prod(matrix, x);
    viennacl::copy(y, out);
    for (unsigned i = 0; i < n; i += 7) expect<T>(what, out[i], product[i], 10 * limit);
    viennacl::linalg::cg_tag cg(limit, 60);
    viennacl::linalg::bicgstab_tag bicgstab(limit, 60);
    auto near = [&](const char *name, viennacl::vector<T> found) {
        viennacl::copy(found, out);
        for (unsigned i = 0; i < n; i += 7) expect<T>(name, out[i], right[i], 1000 * limit);
    };
    near("cg", viennacl::linalg::solve(matrix, y, cg));
    near("bicgstab", viennacl::linalg::solve(matrix, y, bicgstab));
}

template <typename T> void all(T limit) {
    vectors<T>(limit);
    dense<T>(limit);
    solvers<T>(limit);
    sparse<T, viennacl::compressed_matrix<T>>("compressed_matrix", limit);
    sparse<T, viennacl::ell_matrix<T>>("ell_matrix", limit);
}

} // namespace

int main() {
    all<float>(1e-6f);
    if (viennacl::ocl::current_device().double_support()) all<double>(1e-13);
    std::printf("%d results, %d wrong\n", tried, failed);
    return failed != 0;
}
