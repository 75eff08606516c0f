// SPDX-License-Identifier: GPL-3.0-or-later
// The input of the view of number formats, its value in each format, and texts about it. No widget.
#pragma once
#include <QString>

#include "app/views/common/view_table.hpp"
#include "engine/lesson/formats/stored_number.hpp"
#include "engine/lesson/lab/typed_number.hpp"

namespace rankscope::app {

struct FormatNumber {
  TypedNumber typed{1.001};
  double update = 0.001;
  double int8_scale = 0.01;  ///< the value of 1 in int8

  /// int8's scale; the others are shown without one.
  double scale_of(NumberFormat format) const { return facts_of(format).is_integer() ? int8_scale : 1; }
  /// The typed input; bits of int8 with its scale.
  double value() const { return typed.value * (typed.format ? scale_of(*typed.format) : 1); }
  /// A format whose bits were typed keeps them unchanged.
  StoredNumber stored_in(NumberFormat format) const;
  StoredUpdate updated_in(NumberFormat format) const;
  /// The number that a format has after one bit is flipped, in the form of an input: "bf16:0x3f81".
  QString flipped(NumberFormat format, int bit) const;
};

/// All significant digits: "1.0009765625", "∞", "NaN".
QString number_words(double value);
/// "+ 2⁰ × 1.0009765625", or of int8 "100 × 0.01".
QString parts_words(NumberFormat format, std::uint32_t bits, double scale);
/// "subnormal from 6e-08, normal from 6.1e-05, up to 65504; 3.3 digits".
QString range_words(NumberFormat format, double scale);
QString outcome_words(NumberFormat format, const StoredNumber& stored);
/// "error −2.3e-05 (−0.0023 %), spacing 0.00098".
QString error_words(const StoredNumber& stored);
QString update_words(const StoredUpdate& update);

/// One row per format.
ViewTable table_of(const FormatNumber& number);

}  // namespace rankscope::app
