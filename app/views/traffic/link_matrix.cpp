// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/link_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/explain/facts/facts.hpp"

namespace rankscope::app {
namespace {

constexpr int most_cells = 256;

}  // namespace

bool LinkMatrix::is_counted(int from, int to) const {
  return !counted.empty() && std::isfinite(counted[static_cast<std::size_t>(from * predicted.side + to)]);
}

double LinkMatrix::shown(int from, int to) const {
  return is_counted(from, to) ? counted[static_cast<std::size_t>(from * predicted.side + to)] : predicted.at(from, to);
}

double LinkMatrix::total() const {
  double sum = 0;
  for (int from = 0; from < predicted.side; ++from)
    for (int to = 0; to < predicted.side; ++to) sum += shown(from, to);
  return sum;
}

double LinkMatrix::greatest() const {
  double greatest = 0;
  for (int from = 0; from < predicted.side; ++from)
    for (int to = 0; to < predicted.side; ++to) greatest = std::max(greatest, shown(from, to));
  return greatest;
}

LinkMatrix::Source LinkMatrix::source() const {
  bool any_counted = false, any_predicted = false;
  for (int from = 0; from < predicted.side; ++from)
    for (int to = 0; to < predicted.side; ++to)
      if (shown(from, to) > 0) (is_counted(from, to) ? any_counted : any_predicted) = true;
  return !any_counted ? Source::predicted : any_predicted ? Source::both : Source::counted;
}

std::optional<LinkMatrix> link_matrix(const Figures& figures, std::optional<TrafficKey> only) {
  if (!figures.context) return std::nullopt;
  const RunContext& context = *figures.context;
  LinkMatrix matrix;
  matrix.predicted =
      traffic_matrix(context.programs, context.step.grid, algorithm_of(context.step.scenario.plan.collective), only,
                     most_cells, Automatic::direct);
  const bool has_values = !only && figures.run &&
                          std::any_of(figures.run->links.begin(), figures.run->links.end(),
                                      [](const LinkReport& link) { return std::isfinite(link.bytes); });
  if (!has_values || matrix.predicted.side != matrix.predicted.ranks) return matrix;
  // A pair that is not listed sent nothing, if its sender has counted its bytes.
  const auto side = static_cast<std::size_t>(matrix.predicted.side);
  std::vector<char> counts(side, 0), hides(side, 0);
  for (const LinkReport& link : figures.run->links)
    (std::isfinite(link.bytes) ? counts : hides)[static_cast<std::size_t>(link.from)] = 1;
  matrix.counted.assign(side * side, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t from = 0; from < side; ++from)
    if (counts[from] && !hides[from])
      std::fill_n(matrix.counted.begin() + static_cast<std::ptrdiff_t>(from * side), side, 0.0);
  for (const LinkReport& link : figures.run->links)
    matrix.counted[static_cast<std::size_t>(link.from) * side + static_cast<std::size_t>(link.to)] = link.bytes;
  return matrix;
}

}  // namespace rankscope::app
