// How far numbers are from the expected ones. A NaN is further away than any number, at any position, and so is a
// number if a NaN was expected: every test that compares computed numbers uses this file.
#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace rankscope::test {

/// The largest of the added errors, and its index. A NaN counts as an infinite error, and an infinite error stays the
/// largest.
class LargestError {
 public:
  void add(double error) {
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error > value_) value_ = error, at_ = count_;
    ++count_;
  }
  double value() const { return value_; }
  /// The number of errors that were added before it.
  std::size_t at() const { return at_; }
  std::size_t count() const { return count_; }

 private:
  double value_ = 0;
  std::size_t at_ = 0, count_ = 0;
};

/// actual - expected|; zero for equal infinities, infinite if either is NaN.
inline double absolute_error(double actual, double expected) {
  if (actual == expected) return 0;
  const double error = std::abs(actual - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

/// Relative to |expected|, or absolute if zero or an infinity was expected.
inline double relative_error(double actual, double expected) {
  const double size = std::abs(expected);
  return absolute_error(actual, expected) / (size > 0 && std::isfinite(size) ? size : 1);
}

struct Comparison {
  LargestError error;  ///< absolute
  double size = 0;     ///< the largest finite magnitude that was expected
  bool same_length = true;

  /// The largest error relative to the largest expected magnitude, or absolute if only zeros were expected. Infinite
  /// for lists of different lengths.
  double relative() const {
    if (!same_length) return std::numeric_limits<double>::infinity();
    return size > 0 ? error.value() / size : error.value();
  }
};

template <class A, class B>
Comparison compare(std::span<const A> actual, std::span<const B> expected) {
  Comparison result;
  result.same_length = actual.size() == expected.size();
  for (std::size_t i = 0; result.same_length && i < actual.size(); ++i) {
    const auto wanted = static_cast<double>(expected[i]);
    result.error.add(absolute_error(static_cast<double>(actual[i]), wanted));
    if (std::isfinite(wanted) && std::abs(wanted) > result.size) result.size = std::abs(wanted);
  }
  return result;
}

template <class A, class B>
double largest_relative_error(const A& actual, const B& expected) {
  return compare(std::span<const typename A::value_type>(actual), std::span<const typename B::value_type>(expected))
      .relative();
}

/// Frobenius norm of the difference, relative to that of the expected values. Infinite if anything is NaN, if the
/// lengths differ, and if zeros were expected but not found.
template <class A, class B>
double frobenius_error(const A& actual, const B& expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double off = 0, size = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto wanted = static_cast<double>(expected[i]);
    const double error = absolute_error(static_cast<double>(actual[i]), wanted);
    off += error * error;
    if (std::isfinite(wanted)) size += wanted * wanted;
  }
  return off == 0 ? 0 : std::sqrt(off / size);
}

}  // namespace rankscope::test
