#include "engine/explain/validate/validate.hpp"

#include <algorithm>
#include <cmath>

#include "engine/op/not_known.hpp"

namespace rankscope {
namespace {

void summarise(ValidatedTable& table) {
  std::vector<double> published, predicted;
  double sum = 0, worst = 0;
  for (const ValidatedRow& row : table.rows) {
    if (row.fitted) continue;
    published.push_back(row.published);
    predicted.push_back(row.predicted());
    sum += std::abs(row.error());
    worst = std::max(worst, std::abs(row.error()));
  }
  if (published.empty()) return;
  table.mean_error = sum / static_cast<double>(published.size());
  table.worst_error = worst;
  table.tau = kendalls_tau(published, predicted);
}

}  // namespace

double ValidatedRow::error() const {
  if (published < low) return low / published - 1;
  return published > high ? high / published - 1 : 0;
}

ValidatedTable validate(const PublishedTable& published) {
  ValidatedTable table;
  static_cast<TableDescription&>(table) = published;
  for (const PublishedRow& row : published.rows) {
    ValidatedRow result;
    result.name = row.name;
    result.published = row.published;
    result.fitted = row.fitted;
    result.low = std::numeric_limits<double>::infinity();
    result.high = -result.low;
    for (const double value : predictions(published.quantity, row)) {
      result.low = std::min(result.low, value / unit_of(published.unit));
      result.high = std::max(result.high, value / unit_of(published.unit));
    }
    table.rows.push_back(result);
  }
  summarise(table);
  return table;
}

double kendalls_tau(std::span<const double> a, std::span<const double> b) {
  double pairs_in_both = 0, pairs_a = 0, pairs_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = i + 1; k < a.size(); ++k) {
      const double x = (a[i] > a[k]) - (a[i] < a[k]), y = (b[i] > b[k]) - (b[i] < b[k]);
      pairs_in_both += x * y;
      pairs_a += x * x;
      pairs_b += y * y;
    }
  const double pairs = std::sqrt(pairs_a * pairs_b);
  return pairs > 0 ? pairs_in_both / pairs : not_known;
}

}  // namespace rankscope
