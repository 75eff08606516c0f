// Dropout by the counter-based generator: the same words as random_block of kernels/tensor/random.hpp (a test compares
// them), many blocks at once.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

constexpr int group = 64;  ///< blocks of four words drawn at a time

/// words[4·i + w] = word w of Philox4x32-10 block first_block + i.
RANKSCOPE_INLINE void draw(std::uint32_t* words, std::uint64_t first_block, std::uint64_t stream, std::uint64_t key) {
  std::uint32_t c[4][group];
  for (int i = 0; i < group; ++i) {
    c[0][i] = static_cast<std::uint32_t>(first_block + i);
    c[1][i] = static_cast<std::uint32_t>((first_block + i) >> 32);
    c[2][i] = static_cast<std::uint32_t>(stream);
    c[3][i] = static_cast<std::uint32_t>(stream >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < group; ++i) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0][i];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c[2][i];
      c[0][i] = static_cast<std::uint32_t>(b >> 32) ^ c[1][i] ^ key0;
      c[2][i] = static_cast<std::uint32_t>(a >> 32) ^ c[3][i] ^ key1;
      c[1][i] = static_cast<std::uint32_t>(b);
      c[3][i] = static_cast<std::uint32_t>(a);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < group; ++i)
    for (int w = 0; w < 4; ++w) words[4 * i + w] = c[w][i];
}

/// Calls visit(j, factors, part) along a row: elements from `j` on are multiplied by `factors`, 0 where dropped.
template <class T, class Visit>
RANKSCOPE_INLINE void with_factors(const DropoutRow& row, int64_t width, Visit visit) {
  using A = Scalar<T>;
  std::uint32_t words[4 * group];
  A factors[4 * group];
  const auto kept = static_cast<A>(row.factor);
  for (int64_t first = 0; first < width; first += 4 * group) {
    draw(words, row.first_block + static_cast<std::uint64_t>(first / 4), row.stream, row.key);
    for (int i = 0; i < 4 * group; ++i) factors[i] = words[i] < row.threshold ? A(0) : kept;
    const int64_t count = width - first < 4 * group ? width - first : 4 * group;
    sweep<T>(count, [&](int64_t j, auto part) { visit(first + j, load(factors + j, part), part); });
  }
}

template <class T>
void dropout_row(T* y, const T* x, const T* residual, int64_t width, const DropoutRow& row) {
  with_factors<T>(row, width, [&](int64_t j, Vector<T> factors, auto part) {
    Vector<T> v = load(x + j, part) * factors;
    if (residual) v += load(residual + j, part);
    store(y + j, v, part);
  });
}

template <class T>
void residual_row(T* y, const T* x, const T* bias, const T* residual, int64_t width, const DropoutRow* row) {
  if (row == nullptr) {
    sweep<T>(width, [&](int64_t j, auto part) {
      store(y + j, load(x + j, part) + load(bias + j, part) + load(residual + j, part), part);
    });
    return;
  }
  with_factors<T>(*row, width, [&](int64_t j, Vector<T> factors, auto part) {
    store(y + j, (load(x + j, part) + load(bias + j, part)) * factors + load(residual + j, part), part);
  });
}

}  // namespace

template <class T>
void add_dropout(Loops& loops) {
  set<dropout_row<T>>(loops.dropout_row);
  set<residual_row<T>>(loops.residual_row);
}
RANKSCOPE_FOR_ALL_TYPES(add_dropout)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
