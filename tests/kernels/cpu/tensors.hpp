// Tensors of any element type, made from and read as doubles, and comparisons that fail with the worst element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::test {

using Values = std::vector<double>;

/// Rounds to the nearest value of the type, as storing does.
double rounded(double value, DType type);

/// Owns its memory, which begins at a multiple of 64 bytes and is followed by a guard.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, DType type);
  Tensor(Shape shape, DType type, const Values& values);
  View view() const { return view_; }
  operator View() const { return view_; }
  Values values() const;
  void set(const Values& values);
  /// False when something was written behind the end.
  bool guarded() const;

 private:
  std::vector<std::byte> memory_;
  View view_;
};

/// Values in [-size, size), the same for the same seed, already rounded to the type.
Values random_values(std::int64_t count, DType type, std::uint64_t seed, double size = 1);
Tensor random_tensor(Shape shape, DType type, std::uint64_t seed, double size = 1);
Tensor integers(const std::vector<std::int32_t>& values);

/// Greatest difference over the greatest expected magnitude.
double difference(const Values& actual, const Values& expected);

/// What arithmetic in this type may be off by: of a result stored in `stored`, computed in fp64 or fp32.
double bound(DType computed, DType stored);

/// Launches a prepared op with a workspace of exactly its size; checks that it stays inside.
class Bench {
 public:
  template <class... Arguments, class... Given>
  static void launch(const Prepared<Arguments...>& op, Given&&... given) {
    const Tensor workspace({op.workspace_bytes}, DType::u8);
    op.launch(static_cast<Given&&>(given)..., Stream{workspace.view().as<std::byte>(), nullptr});
    check_guard(workspace);
  }

 private:
  static void check_guard(const Tensor& workspace);
};

}  // namespace rankscope::kernels::test
