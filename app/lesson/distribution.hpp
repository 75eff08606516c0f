// SPDX-License-Identifier: GPL-3.0-or-later
// A class's answers to one question, as a distribution: bins of numbers, counts of options, orders and clicked
// places, and of drawings the spread at each point. No widgets.
#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "app/lesson/answer.hpp"

namespace rankscope::app {

/// Numbers in bins of equal width. Those of a share are of 10 points each.
struct Bins {
  double low = 0, high = 1;
  std::vector<int> counts;
};
Bins bins_of(const std::vector<double>& values, const QString& unit, int most = 12);

/// Of sorted or unsorted values, by linear interpolation between the two nearest; NaN for none.
struct Quartiles {
  double low = 0, median = 0, high = 0;
};
Quartiles quartiles_of(std::vector<double> values);

/// One bar: an option, an order, a place.
struct CountedAnswer {
  QString words;
  int count = 0;
  std::optional<bool> right;  ///< nothing while unknown
  QString because;            ///< the reason of this known mistake; empty: none
};

struct Distribution {
  QuestionKind kind = QuestionKind::number;
  int answers = 0;
  QString unit;
  // of numbers
  Bins bins;
  std::optional<double> truth;
  std::vector<double> mistakes;
  // of choices, orders and places: options in the listed order, the others by count
  std::vector<CountedAnswer> counted;
  // of drawings: at each point, over those with the most common number of points
  std::vector<Quartiles> spread;
  std::vector<double> true_series;
  double most = 0;  ///< the end of the axis
  bool by_step = false;
  int other_sizes = 0;  ///< omitted drawings: they have another number of points
};

/// `truth`: the right answer, to be marked with the mistakes; nullopt: nothing is marked.
Distribution distribution_of(const Question& question, const std::vector<Attempt>& attempts,
                             const std::optional<Target>& truth);
/// The same as text, for screen readers: "9 answers; right: 5".
QString words_of(const Distribution& distribution);

}  // namespace rankscope::app
