// SPDX-License-Identifier: GPL-3.0-or-later
// Facts about a collective without known phases: its algorithm, the last rank to arrive, the waiting times of the
// others, and the bandwidth; and a small table of them: one line per fact, with the origin of its value.
#pragma once
#include <QPainter>
#include <QString>
#include <array>
#include <vector>

#include "app/models/palette.hpp"
#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

struct ExchangeFact {
  QString name, value;
  QString why;  ///< how the value is computed; may be empty
};

/// In reading order. Facts that need the spans of all members are omitted if one of them is
/// missing.
std::vector<ExchangeFact> facts_of(const GroupExchange& exchange);

/// The form of the table in the available space.
struct FactsForm {
  enum class Why { behind, beneath, none };  ///< the position of the explanation of a value
  Why why = Why::behind;
  int line = 0;           ///< pixels of a fact
  std::size_t first = 0;  ///< fact that is shown
};

class FactsTable {
 public:
  explicit FactsTable(std::vector<ExchangeFact> facts = {}) : facts_(std::move(facts)) {}
  /// In which no column is cut.
  double width(const FactsForm& form) const;
  /// In which all facts fit.
  double height(const FactsForm& form, double width) const;
  /// As many as fit, and the number of the others.
  void paint(QPainter& painter, const QRectF& area, const FactsForm& form, const Palette& colours) const;

 private:
  /// Of the columns: quantity, value, reason.
  std::array<double, 3> widths() const;
  std::vector<ExchangeFact> facts_;
};

}  // namespace rankscope::app
