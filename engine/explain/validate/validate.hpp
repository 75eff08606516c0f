// Compares predictions with published figures, row by row.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/explain/validate/published.hpp"
#include "engine/op/not_known.hpp"

namespace rankscope {

/// Figures in the table's unit.
struct ValidatedRow {
  std::string name;
  double published = 0;
  double low = 0,
         high = 0;  ///< of the predictions for all choices that the source does not state; equal if there is one
  bool fitted = false;
  double uncertainty = 0;  ///< standard error of error(), if the row was measured several times; 0: unknown
  double predicted() const { return (low + high) / 2; }
  double width() const { return high - low; }
  /// Relative, of the prediction nearest to the published figure: 0 within the interval.
  double error() const;
};

struct ValidatedTable : TableDescription {
  std::vector<ValidatedRow> rows;
  /// Over rows to which no constant was fitted; NaN if there are none.
  double mean_error = not_known;
  double worst_error = not_known;  ///< both absolute
  double tau = not_known;          ///< of these rows: kendalls_tau
};

/// Of one of the row's choices, in SI units (seconds, bytes, shares); of Quantity::fastest_micro_batch its samples per
/// second. Throws std::invalid_argument for a plan that does not fold.
double predict(const Scenario& scenario, Quantity quantity, const PublishedRow& row);
/// Of the row: for each of its choices, divided by its denominator if the figure is a ratio; for
/// Quantity::fastest_micro_batch one.
std::vector<double> predictions(Quantity quantity, const PublishedRow& row);

ValidatedTable validate(const PublishedTable& table);

/// Kendall's τ-b of pairs: 1 if both have the same order, -1 if opposite; ties count in neither. NaN for fewer than
/// two, or if all values of one side are equal.
double kendalls_tau(std::span<const double> a, std::span<const double> b);

nlohmann::json to_json(const std::vector<ValidatedTable>& tables);
std::string to_text(const std::vector<ValidatedTable>& tables);

}  // namespace rankscope
