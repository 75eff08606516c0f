#include "engine/predict/cost/measured.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankscope {
namespace {

constexpr double reach = 4;  // costs apply up to this many times the measured work
constexpr std::size_t count = 4;

using Terms = std::array<double, count>;

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

OpWork work_of(const MeasuredCost& cost) { return {cost.flops, cost.bytes, cost.walked_bytes}; }

/// The quantity that each term multiplies.
Terms factors_of(const OpWork& work) { return {1, work.flops, work.bytes, work.walked_bytes}; }

double sum(const Terms& terms, const OpWork& work) {
  const Terms factors = factors_of(work);
  double seconds = 0;
  for (std::size_t i = 0; i < count; ++i) seconds += terms[i] * factors[i];
  return seconds;
}

/// Solves the normal equations of the terms in `mask` by Gaussian elimination; false if they are singular.
bool solve(const std::vector<MeasuredCost>& sizes, unsigned mask, Terms& terms) {
  double a[count][count + 1] = {};
  for (const MeasuredCost& size : sizes) {
    // Relative errors are minimised: rows are divided by the measured values. An omitted term is fixed at 0.
    Terms x = factors_of(work_of(size));
    for (double& factor : x) factor /= size.seconds;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < count; ++k) a[i][k] += x[i] * x[k];
      a[i][count] += x[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!(mask & 1u << i)) {
      for (std::size_t k = 0; k <= count; ++k) a[i][k] = 0;
      for (std::size_t k = 0; k < count; ++k) a[k][i] = 0;
      a[i][i] = 1;
    }
  double scale[count];
  for (std::size_t i = 0; i < count; ++i) scale[i] = std::sqrt(a[i][i]);
  for (std::size_t i = 0; i < count; ++i) {
    if (!(scale[i] > 0)) return false;
    for (std::size_t k = 0; k < count; ++k) a[i][k] /= scale[i] * scale[k];
    a[i][count] /= scale[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (a[i][i] < 1e-9) return false;
    for (std::size_t r = 0; r < count; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (std::size_t k = i; k <= count; ++k) a[r][k] -= factor * a[i][k];
    }
  }
  for (std::size_t i = 0; i < count; ++i) terms[i] = a[i][count] / a[i][i] / scale[i];
  return true;
}

double misfit(const std::vector<MeasuredCost>& sizes, const Terms& terms) {
  double squares = 0;
  for (const MeasuredCost& size : sizes) {
    const double error = sum(terms, work_of(size)) / size.seconds - 1;
    squares += error * error;
  }
  return squares;
}

}  // namespace

OpWork work_of(const SegmentSpec& s, OpKind kind) {
  if (kind == OpKind::input_gradient) return {s.input_gradient_flops, s.input_gradient_bytes, s.walked_bytes};
  if (kind == OpKind::weight_gradient) return {s.weight_gradient_flops, s.weight_gradient_bytes, s.walked_bytes};
  if (kind == OpKind::backward)
    return {s.input_gradient_flops + s.weight_gradient_flops, s.backward_bytes, s.walked_bytes};
  return {s.forward_flops, s.forward_bytes, s.walked_bytes};  // forward, and recomputed
}

MeasuredOps::MeasuredOps(const std::vector<MeasuredCost>& costs, std::string_view precision) {
  for (const MeasuredCost& cost : costs)
    if (cost.precision == precision) ops_[cost.op].sizes.push_back(cost);
  for (auto& [name, op] : ops_) fit(op);
}

std::string MeasuredOps::name(OpKind kind, Segment segment) {
  return std::string(name_of(kind)) + " " + std::string(name_of(segment));
}

void MeasuredOps::fit(Op& op) {
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = 1; mask < 1u << count; ++mask) {
    Terms terms{};
    if (!solve(op.sizes, mask, terms)) continue;
    if (std::any_of(terms.begin(), terms.end(), [](double term) { return term < 0; })) continue;
    const double error = misfit(op.sizes, terms);
    if (error >= least) continue;
    least = error;
    op.terms = terms;
  }
}

std::optional<double> MeasuredOps::seconds(OpKind kind, Segment segment, OpWork work) const {
  const auto found = ops_.find(name(kind, segment));
  if (found == ops_.end()) return std::nullopt;
  const Op& op = found->second;
  const auto walks = [](const MeasuredCost& size) { return size.walked_bytes > 0; };
  if (std::none_of(op.sizes.begin(), op.sizes.end(), walks)) work.walked_bytes = 0;
  const auto amount = [](double flops, double bytes) { return flops > 0 ? flops : bytes; };
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const MeasuredCost& size : op.sizes) {
    if (same(size.flops, work.flops) && same(size.bytes, work.bytes) && same(size.walked_bytes, work.walked_bytes))
      return size.seconds;
    least = std::min(least, amount(size.flops, size.bytes));
    most = std::max(most, amount(size.flops, size.bytes));
  }
  const double here = amount(work.flops, work.bytes);
  if (here < least / reach || here > most * reach) return std::nullopt;
  return sum(op.terms, work);
}

}  // namespace rankscope
