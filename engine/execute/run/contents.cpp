#include "engine/execute/run/contents.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/op/words.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope {
namespace {

/// Calls by(i, reference to element i) for the two wide types, whose elements can be accessed in place.
template <class T, class By>
void for_each_of(const View& view, const By& by) {
  T* const at = view.as<T>();
  for (std::int64_t i = 0; i < view.elements(); ++i) by(i, at[i]);
}

template <class Value>
void write_all(const View& view, const Value& value) {
  if (view.type == DType::f32)
    return for_each_of<float>(view, [&](std::int64_t i, float& x) { x = static_cast<float>(value(i)); });
  if (view.type == DType::f64) return for_each_of<double>(view, [&](std::int64_t i, double& x) { x = value(i); });
  for (std::int64_t i = 0; i < view.elements(); ++i) set_element(view, i, value(i));
}

template <class T, class Value>
std::optional<WrongElement> first_other(const View& view, const Value& value) {
  const T* const at = view.as<T>();
  for (std::int64_t i = 0; i < view.elements(); ++i)
    if (const double should = value(i); !(static_cast<double>(at[i]) == should))
      return WrongElement{i, static_cast<double>(at[i]), should};
  return std::nullopt;
}

}  // namespace

DrawnNumbers numbers_of(const CollectiveTask& task, DType type, std::uint32_t step) {
  const std::uint32_t levels = exact_levels(digits_of(type), is_sum(task.kind) ? task.n : 1);
  if (levels < 2)
    throw std::invalid_argument(
        fmt::format("a sum over {} cannot be checked in {}", counted(task.n, "member"), name_of(type)));
  return {step, levels};
}

void draw_into(const View& brought, const CollectiveTask& task, int member, std::uint32_t step) {
  const DrawnNumbers numbers = numbers_of(task, brought.type, step);
  write_all(brought, [&](std::int64_t i) { return numbers(member, i); });
}

std::optional<WrongElement> find_wrong(const View& left, const CollectiveTask& task, int member, std::uint32_t step) {
  const DrawnNumbers numbers = numbers_of(task, left.type, step);
  const auto value = [&](std::int64_t i) { return left_by_definition(task, member, i, numbers); };
  if (left.type == DType::f32) return first_other<float>(left, value);
  if (left.type == DType::f64) return first_other<double>(left, value);
  for (std::int64_t i = 0; i < left.elements(); ++i)
    if (const double is = element(left, i), should = value(i); !(is == should)) return WrongElement{i, is, should};
  return std::nullopt;
}

std::string words_of(const WrongElement& wrong, const CollectiveTask& task, int member, std::uint32_t step) {
  return fmt::format("after the {} of step {} element {} on rank {} is {}, and by definition it is {}",
                     name_of(task.kind), step, wrong.at, member,
                     std::isnan(wrong.is) ? "no number" : fmt::format("{}", wrong.is), wrong.should);
}

}  // namespace rankscope
