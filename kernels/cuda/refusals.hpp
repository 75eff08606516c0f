// Products that a library refuses, reported once for each shape: the replacement may be many times slower. Internal to
// kernels/cuda.
#pragma once
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "kernels/matrix_product.hpp"

namespace rankscope::kernels::cuda {

/// Calls from any thread.
class Refusals {
 public:
  /// `notice` is called once for each line; empty: nothing is reported.
  explicit Refusals(std::function<void(const std::string& line)> notice) : notice_(std::move(notice)) {}
  void report(const std::string& line);

 private:
  const std::function<void(const std::string&)> notice_;
  std::mutex mutex_;
  std::set<std::string> reported_;
};

/// "the product of [64 x 32] and [32 x 96] in bf16, with bias and GELU, to [64 x 96] in bf16"
std::string words_of(const ProductSpec& spec);

/// One line: the product, the library's answer, and what computes it instead. `why` follows "cuBLASLt": "has no
/// algorithm".
std::string refusal_of(const ProductSpec& spec, const std::string& why);

}  // namespace rankscope::kernels::cuda
