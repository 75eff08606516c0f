// SPDX-License-Identifier: GPL-3.0-or-later
// A small table of facts about an opaque collective: one line per fact, with the origin of its value.
#pragma once
#include <QPainter>
#include <array>
#include <vector>

#include "app/models/palette.hpp"
#include "app/views/traffic/exchange_facts.hpp"

namespace rankscope::app {

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
