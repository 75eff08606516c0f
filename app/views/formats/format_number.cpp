// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/formats/format_number.hpp"

#include <cmath>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

QString few_digits(double value) {
  if (!std::isfinite(value)) return number_words(value);
  return QString::number(value, 'g', 2).replace(QLatin1Char('-'), QChar(0x2212));
}

/// Of a share: also 0.002 % has two digits, and 100 % has no exponent.
QString signed_percent(double share) {
  const double percent = 100 * share;
  const QString digits = std::fabs(percent) < 99.5 || std::fabs(percent) >= 1e6
                             ? few_digits(percent)
                             : QString::number(percent, 'f', 0).replace(QLatin1Char('-'), QChar(0x2212));
  return (share > 0 ? QStringLiteral("+") : QString()) + digits + QStringLiteral("\u00A0%");
}

}  // namespace

StoredNumber FormatNumber::stored_in(NumberFormat format) const {
  if (typed.format == format) return store_bits(format, typed.bits, scale_of(format));
  return store(format, value(), scale_of(format));
}

StoredUpdate FormatNumber::updated_in(NumberFormat format) const {
  return add_update(format, stored_in(format).value, update, scale_of(format));
}

QString FormatNumber::flipped(NumberFormat format, int bit) const {
  const std::uint32_t bits = stored_in(format).bits ^ std::uint32_t{1} << bit;
  const FormatFacts& f = facts_of(format);
  return QStringLiteral("%1:0x%2").arg(text::utf8(f.name)).arg(bits, (f.bits() + 3) / 4, 16, QLatin1Char('0'));
}

QString number_words(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
  return QString::number(value, 'g', 11).replace(QLatin1Char('-'), QChar(0x2212));
}

QString parts_words(NumberFormat format, std::uint32_t bits, double scale) {
  const FormatFacts& f = facts_of(format);
  const double value = value_of_bits(format, bits);
  if (f.is_integer()) return QStringLiteral("%1 × %2").arg(number_words(value), number_words(scale));
  const std::uint32_t magnitude = bits & f.magnitude_mask();
  const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  if (!std::isfinite(value))
    return std::isnan(value) ? text::tr("this pattern is no number") : text::tr("this pattern is infinity");
  const bool negative = (bits & f.sign_mask()) != 0;
  const int power = std::max(exponent, 1) - f.bias();
  const double mantissa = std::ldexp(std::fabs(value), -power);
  const QString words =
      QStringLiteral("%1 %2 × %3")
          .arg(negative ? QStringLiteral("−") : QStringLiteral("+"), text::power_of_two(power), number_words(mantissa));
  if (exponent > 0) return words + text::tr("  (exponent %1 − %2)").arg(exponent).arg(f.bias());
  return magnitude == 0 ? text::tr("%1 zero").arg(negative ? QStringLiteral("−") : QStringLiteral("+"))
                        : words + text::tr("  (exponent 0: no 1 in front)");
}

QString range_words(NumberFormat format, double scale) {
  const FormatRange range = range_of(format);
  const QString digits = QString::number(range.digits, 'f', 1);
  if (facts_of(format).is_integer())
    return text::tr("from %1 to %2, evenly spaced")
        .arg(number_words(-(range.largest + 1) * scale), number_words(range.largest * scale));
  return text::tr("from %1 (normal: %2) to %3; %4 digits")
      .arg(few_digits(range.least), few_digits(range.least_normal),
           QString::number(range.largest, 'g', range.largest < 1e6 ? 5 : 2), digits);
}

QString outcome_words(NumberFormat format, const StoredNumber& stored) {
  switch (stored.outcome) {
    case RoundingOutcome::exact: return text::tr("exact");
    case RoundingOutcome::rounded: return text::tr("rounded");
    case RoundingOutcome::subnormal:
      return stored.error() == 0 ? text::tr("subnormal, exact") : text::tr("subnormal, rounded");
    case RoundingOutcome::underflow: return text::tr("underflow");
    case RoundingOutcome::overflow:
      return facts_of(format).is_integer() ? text::tr("overflow: stops at the end") : text::tr("overflow");
    case RoundingOutcome::no_number: return text::tr("no finite number");
  }
  return {};
}

QString error_words(const StoredNumber& stored) {
  const QString spacing =
      std::isfinite(stored.spacing) ? text::tr("spacing %1").arg(few_digits(stored.spacing)) : QString();
  if (!std::isfinite(stored.error())) return spacing;
  if (stored.error() == 0) return text::tr("no error; %1").arg(spacing);
  return text::tr("error %1; %2").arg(signed_percent(stored.relative_error()), spacing);
}

QString update_words(const StoredUpdate& update) {
  const QString sum = QStringLiteral("%1 %2").arg(update.asked < 0 ? QStringLiteral("−") : QStringLiteral("+"),
                                                  number_words(std::fabs(update.asked)));
  if (!std::isfinite(update.before) || !std::isfinite(update.asked)) return text::tr("%1: no sum").arg(sum);
  if (update.asked == 0) return text::tr("no update");
  if (update.lost()) return text::tr("%1: lost").arg(sum);
  if (!std::isfinite(update.after)) return text::tr("%1: overflow").arg(sum);
  return text::tr("%1 = %2: %3 of it")
      .arg(sum, number_words(update.after),
           QString::number(100 * update.moved() / update.asked, 'g', 3) + QStringLiteral("\u00A0%"));
}

ViewTable table_of(const FormatNumber& number) {
  ViewTable table{{text::tr("format"), text::tr("number"), text::tr("bits"), text::tr("value"), text::tr("outcome"),
                   text::tr("error"), text::tr("relative error"), text::tr("spacing"), text::tr("update"),
                   text::tr("value after update"), text::tr("update lost"), text::tr("smallest subnormal"),
                   text::tr("smallest normal"), text::tr("largest"), text::tr("decimal digits")},
                  {}};
  for (const NumberFormat format : every_number_format) {
    const FormatFacts& f = facts_of(format);
    const StoredNumber stored = number.stored_in(format);
    const StoredUpdate update = number.updated_in(format);
    const FormatRange range = range_of(format);
    const double scale = number.scale_of(format);
    table.rows.push_back({text::utf8(f.name), plain(number.value()),
                          QStringLiteral("%1").arg(stored.bits, f.bits(), 2, QLatin1Char('0')), plain(stored.value),
                          text::utf8(name_of(stored.outcome)), plain(stored.error()), plain(stored.relative_error()),
                          plain(stored.spacing), plain(update.asked), plain(update.after),
                          update.lost() ? text::tr("yes") : text::tr("no"), plain(range.least * scale),
                          plain(range.least_normal * scale), plain(range.largest * scale), plain(range.digits)});
  }
  return table;
}

}  // namespace rankscope::app
