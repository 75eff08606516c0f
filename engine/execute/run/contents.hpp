// What a collective alone is given, and what it has left, as numbers in memory: drawn before it, held to its definition
// after it.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "engine/plan/collective/definition.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// A rank that has something else than the collective's definition says: what() names the rank, the step, the element,
/// what is there and what would be right.
struct WrongContents : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What members bring in that step, in numbers that the type holds exactly, summed or not.
DrawnNumbers numbers_of(const CollectiveTask& task, DType type, std::uint32_t step);

/// Writes what `member` brings.
void draw_into(const View& brought, const CollectiveTask& task, int member, std::uint32_t step);

/// An element that is not as the definition says.
struct WrongElement {
  std::int64_t at = 0;
  double is = 0, should = 0;
};
/// The first one of what `member` has after the collective.
std::optional<WrongElement> find_wrong(const View& left, const CollectiveTask& task, int member, std::uint32_t step);
/// The sentence of WrongContents.
std::string words_of(const WrongElement& wrong, const CollectiveTask& task, int member, std::uint32_t step);

}  // namespace rankscope
