#include "engine/lesson/formats/scales.hpp"

#include <algorithm>
#include <cmath>

#include "engine/lesson/formats/stored_number.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

constexpr std::uint64_t seed = 1;
constexpr int outlier_every = 512, outlier_shift = 10, row = 64, rows_in_cycle = 8;

/// Normal numbers times 2^exponent(i).
template <class Exponent>
std::vector<double> drawn(std::uint64_t stream, Exponent exponent) {
  std::vector<double> values(stated_elements);
  for (int i = 0; i < stated_elements; ++i)
    values[i] = std::ldexp(normal(seed, stream, static_cast<std::uint64_t>(i)), exponent(i));
  return values;
}

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Sums over the numbers of one tensor.
struct Sums {
  std::int64_t not_zero = 0, zeroed = 0, beyond = 0;
  double squares = 0, error_squares = 0;
};

void add_stored(NumberFormat format, std::span<const double> values, double scale, Sums& sums) {
  for (const double value : values) {
    const StoredNumber stored = store(format, value, scale);
    sums.not_zero += value != 0;
    sums.zeroed += stored.outcome == RoundingOutcome::underflow;
    sums.beyond += stored.outcome == RoundingOutcome::overflow;
    // Infinite values have no finite error; they are counted as lost.
    const double error = std::isfinite(stored.value) ? stored.error() : value;
    sums.squares += value * value;
    sums.error_squares += error * error;
  }
}

}  // namespace

std::vector<StatedTensor> stated_tensors() {
  return {{"head", "normal, deviation 2^-6", drawn(1, [](int) { return -6; })},
          {"MLP", "normal, deviation 2^-12", drawn(2, [](int) { return -12; })},
          {"embedding", "rows of 64 with deviations 2^-8, 2^-10, … 2^-22, and again",
           drawn(3, [](int i) { return -8 - 2 * (i / row % rows_in_cycle); })},
          {"norm", "normal, deviation 2^-18; every 512th number is 2^10 times as large",
           drawn(4, [](int i) { return -18 + (i % outlier_every == 0 ? outlier_shift : 0); })}};
}

ScaleLoss loss_of(NumberFormat format, Scaling scaling, std::span<const StatedTensor> tensors) {
  const double most = range_of(format).largest;
  const auto scale_for = [&](double largest) { return largest > 0 ? largest / most : 1.0; };
  double largest = 0;
  for (const StatedTensor& tensor : tensors) largest = std::max(largest, largest_of(tensor.values));
  Sums all;
  ScaleLoss loss;
  loss.scales = scaling == Scaling::one ? 1 : 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::span<const double> values = tensors[t].values;
    Sums sums;
    if (scaling == Scaling::none || scaling == Scaling::one) {
      add_stored(format, values, scaling == Scaling::one ? scale_for(largest) : 1.0, sums);
    } else {
      const std::size_t part = scaling == Scaling::per_block ? block_elements : std::max<std::size_t>(1, values.size());
      for (std::size_t at = 0; at < values.size(); at += part, ++loss.scales) {
        const auto group = values.subspan(at, std::min(part, values.size() - at));
        add_stored(format, group, scale_for(largest_of(group)), sums);
      }
    }
    const double error = sums.squares > 0 ? std::sqrt(sums.error_squares / sums.squares) : 0;
    if (error > loss.error) loss.error = error, loss.worst = t;
    all.not_zero += sums.not_zero;
    all.zeroed += sums.zeroed;
    all.beyond += sums.beyond;
  }
  if (all.not_zero > 0) {
    loss.zeroed = static_cast<double>(all.zeroed) / static_cast<double>(all.not_zero);
    loss.beyond = static_cast<double>(all.beyond) / static_cast<double>(all.not_zero);
  }
  return loss;
}

}  // namespace rankscope
