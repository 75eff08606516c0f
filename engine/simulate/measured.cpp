#include "engine/simulate/measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rankscope {
namespace {

constexpr double reach = 4;  // times of the measured sizes' work

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

using Terms = std::array<double, 3>;  // launch, per FLOP, per byte

/// Solves the normal equations of the terms in `mask` by Gauss; false where they do not determine them.
bool solve(const std::vector<MeasuredCost>& sizes, unsigned mask, Terms& terms) {
  double a[3][4] = {};
  for (const MeasuredCost& size : sizes) {
    // Relative errors count: rows are divided by what was measured. A term that is left out is held at 0.
    const Terms x = {1 / size.seconds, size.flops / size.seconds, size.bytes / size.seconds};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) a[i][k] += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(k)];
      a[i][3] += x[static_cast<std::size_t>(i)];
    }
  }
  for (int i = 0; i < 3; ++i)
    if (!(mask & 1u << i)) {
      for (int k = 0; k < 4; ++k) a[i][k] = 0;
      for (int k = 0; k < 3; ++k) a[k][i] = 0;
      a[i][i] = 1;
    }
  double scale[3];
  for (int i = 0; i < 3; ++i) scale[i] = std::sqrt(a[i][i]);
  for (int i = 0; i < 3; ++i) {
    if (!(scale[i] > 0)) return false;
    for (int k = 0; k < 3; ++k) a[i][k] /= scale[i] * scale[k];
    a[i][3] /= scale[i];
  }
  for (int i = 0; i < 3; ++i) {
    if (a[i][i] < 1e-9) return false;
    for (int r = 0; r < 3; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (int k = i; k < 4; ++k) a[r][k] -= factor * a[i][k];
    }
  }
  for (int i = 0; i < 3; ++i) terms[static_cast<std::size_t>(i)] = a[i][3] / a[i][i] / scale[i];
  return true;
}

double misfit(const std::vector<MeasuredCost>& sizes, const Terms& terms) {
  double sum = 0;
  for (const MeasuredCost& size : sizes) {
    const double error = (terms[0] + terms[1] * size.flops + terms[2] * size.bytes) / size.seconds - 1;
    sum += error * error;
  }
  return sum;
}

}  // namespace

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
  for (unsigned mask = 1; mask < 8; ++mask) {
    Terms terms{};
    if (!solve(op.sizes, mask, terms)) continue;
    if (std::any_of(terms.begin(), terms.end(), [](double term) { return term < 0; })) continue;
    const double error = misfit(op.sizes, terms);
    if (error >= least) continue;
    least = error;
    op.launch = terms[0];
    op.per_flop = terms[1];
    op.per_byte = terms[2];
  }
}

std::optional<double> MeasuredOps::seconds(OpKind kind, Segment segment, double flops, double bytes) const {
  const auto found = ops_.find(name(kind, segment));
  if (found == ops_.end()) return std::nullopt;
  const Op& op = found->second;
  const auto work = [](double f, double b) { return f > 0 ? f : b; };
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const MeasuredCost& size : op.sizes) {
    if (same(size.flops, flops) && same(size.bytes, bytes)) return size.seconds;
    least = std::min(least, work(size.flops, size.bytes));
    most = std::max(most, work(size.flops, size.bytes));
  }
  const double here = work(flops, bytes);
  if (here < least / reach || here > most * reach) return std::nullopt;
  return op.launch + op.per_flop * flops + op.per_byte * bytes;
}

}  // namespace rankscope
