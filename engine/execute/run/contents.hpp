// Input and result of a single collective, as numbers in memory: generated before it, compared with its definition
// after it.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "engine/plan/collective/definition.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// A rank whose result differs from the collective's definition: what() names the rank, the step, the element,
/// the value found and the value expected.
struct WrongContents : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The input of members in that step, in numbers that the type represents exactly, also their sums.
DrawnNumbers numbers_of(const CollectiveTask& task, DType type, std::uint32_t step);

/// Writes the input of `member`.
void draw_into(const View& brought, const CollectiveTask& task, int member, std::uint32_t step);

/// An element that differs from the definition.
struct WrongElement {
  std::int64_t at = 0;
  double is = 0, should = 0;
};
/// The first such element in the result of `member`.
std::optional<WrongElement> find_wrong(const View& left, const CollectiveTask& task, int member, std::uint32_t step);
/// The sentence of WrongContents.
std::string words_of(const WrongElement& wrong, const CollectiveTask& task, int member, std::uint32_t step);

}  // namespace rankscope
