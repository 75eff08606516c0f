// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/powers.hpp"

#include <cstdlib>

#include "app/views/common/text.hpp"

namespace rankscope::app::text {

QString power_of_two(int exponent) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text = QStringLiteral("2");
  if (exponent < 0) text += QStringLiteral("⁻");
  for (const QChar digit : QString::number(std::abs(exponent))) text += digits[digit.digitValue()];
  return text;
}

QString share(double share) { return share > 0 && share < 5e-4 ? QStringLiteral("<\u00A00.1\u00A0%") : percent(share); }

}  // namespace rankscope::app::text
