// How GPU work is divided, and how row-major products are passed to a column-major library: only arithmetic.
#include <random>
#include <vector>

#include "kernels/cuda/geometry.hpp"
#include "kernels/cuda/matrix_product.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::kernels;

namespace {

/// The result of a column-major library: element (i, j) is at i + j·rows.
std::vector<double> column_major_multiply(const cuda::ColumnMajorProduct& p, const std::vector<double>& left,
                                          const std::vector<double>& right) {
  std::vector<double> result(static_cast<std::size_t>(p.rows * p.columns));
  const auto at = [](const std::vector<double>& m, std::int64_t rows, bool transposed, std::int64_t i, std::int64_t j) {
    return m[static_cast<std::size_t>(transposed ? j + i * rows : i + j * rows)];
  };
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j)
      for (std::int64_t k = 0; k < p.depth; ++k)
        result[static_cast<std::size_t>(i + j * p.rows)] +=
            at(left, p.left_rows, p.left_transposed, i, k) * at(right, p.right_rows, p.right_transposed, k, j);
  return result;
}

}  // namespace

TEST_CASE("a row-major product is the column-major product of its transposes: no memory is moved") {
  const bool a_transposed = GENERATE(false, true), b_transposed = GENERATE(false, true);
  const std::int64_t m = 3, n = 5, k = 7;
  ProductSpec spec;
  spec.m = m, spec.n = n, spec.k = k, spec.a_transposed = a_transposed, spec.b_transposed = b_transposed;
  std::vector<double> a(m * k), b(k * n), expected(m * n);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> digits(-9, 9);
  for (double& v : a) v = digits(random);
  for (double& v : b) v = digits(random);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t d = 0; d < k; ++d)
        expected[i * n + j] += a[a_transposed ? d * m + i : i * k + d] * b[b_transposed ? j * k + d : d * n + j];
  const cuda::ColumnMajorProduct p = cuda::column_major(spec);
  CHECK(p.left_rows * p.left_columns == k * n);
  CHECK(p.right_rows * p.right_columns == m * k);
  CHECK(column_major_multiply(p, b, a) == expected);
}

TEST_CASE("pieces cover the whole, and an empty whole has none") {
  CHECK(cuda::pieces_of(0, 64) == 0);
  CHECK(cuda::pieces_of(1, 64) == 1);
  CHECK(cuda::pieces_of(64, 64) == 1);
  CHECK(cuda::pieces_of(65, 64) == 2);
  CHECK(cuda::pieces_of(std::int64_t{1} << 40, 1024) == std::int64_t{1} << 30);
}

TEST_CASE("a row has whole warps, enough for its elements or as many as allowed") {
  CHECK(cuda::threads_for_row(1, 8, 512) == 32);
  CHECK(cuda::threads_for_row(256, 8, 512) == 32);
  CHECK(cuda::threads_for_row(257, 8, 512) == 64);
  CHECK(cuda::threads_for_row(50257, 8, 512) == 512);
}

TEST_CASE("rows are packs when each begins at a multiple of 16 bytes") {
  alignas(16) char memory[64];
  CHECK(cuda::rows_are_packs(8, 8, 16, {memory, memory + 16, nullptr}));
  CHECK_FALSE(cuda::rows_are_packs(9, 8, 16, {memory}));
  CHECK_FALSE(cuda::rows_are_packs(8, 8, 16, {memory, memory + 2}));
}
