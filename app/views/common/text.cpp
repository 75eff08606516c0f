// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/text.hpp"

#include <QLocale>
#include <array>
#include <cmath>
#include <cstdlib>

#include "app/models/run_plan.hpp"
#include "app/models/translated.hpp"

namespace rankscope::app::text {
namespace {

const QLocale& plain() {
  static const QLocale locale = QLocale::c();
  return locale;
}

/// Three significant digits without an exponent; from 1,000 on grouped integers.
QString three_digits(double value) {
  const double size = std::fabs(value);
  if (size == 0) return QStringLiteral("0");
  if (size >= 999.5) {
    QLocale grouped(QLocale::English, QLocale::UnitedStates);
    const double unit = std::pow(10.0, std::floor(std::log10(size)) - 2);
    return grouped.toString(std::round(value / unit) * unit, 'f', 0);
  }
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return plain().toString(value, 'f', decimals);
}

struct Unit {
  double factor;
  const char* name;
};

template <std::size_t n>
QString scaled(double value, const std::array<Unit, n>& units, double from = 0.9995) {
  if (!std::isfinite(value)) return unknown();
  const Unit* unit = &units.back();
  for (const Unit& candidate : units)
    if (std::fabs(value) >= candidate.factor * from) {
      unit = &candidate;
      break;
    }
  return three_digits(value / unit->factor) + QChar(0xA0) + QString::fromUtf8(unit->name);
}

}  // namespace

QString unknown() { return QStringLiteral("–"); }

QString seconds(double seconds) {
  static constexpr std::array<Unit, 4> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  if (seconds == 0) return QStringLiteral("0 s");
  return scaled(seconds, units);
}

QString nanoseconds(std::int64_t ns) { return seconds(static_cast<double>(ns) * 1e-9); }

QString bytes(double bytes) {
  static constexpr std::array<Unit, 5> units{
      {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}}};
  if (bytes < 0) return unknown();
  if (bytes < 1000) return QString::number(static_cast<int>(bytes)) + QStringLiteral("\u00A0B");
  return scaled(bytes, units, 1000.0 / 1024);  // never four digits
}

QString percent(double share) {
  if (!std::isfinite(share)) return unknown();
  return plain().toString(share * 100, 'f', 1) + QStringLiteral("\u00A0%");
}

QString count(std::int64_t number) {
  if (number < 0) return unknown();
  return QLocale(QLocale::English, QLocale::UnitedStates).toString(static_cast<qlonglong>(number));
}

QString number(double value) {
  if (!std::isfinite(value)) return unknown();
  if (value != 0 && (std::fabs(value) < 1e-3 || std::fabs(value) >= 1e9)) return plain().toString(value, 'g', 3);
  return three_digits(value);
}

QString number_within(double value, double error) {
  constexpr double most_grouped = 1e15;
  constexpr int most_digits = 12;
  if (!std::isfinite(value)) return unknown();
  const QLocale grouped(QLocale::English, QLocale::UnitedStates);
  if (value == std::round(value) && std::fabs(value) < most_grouped) return grouped.toString(value, 'f', 0);
  if (std::fabs(value) < 1e-3 || std::fabs(value) >= most_grouped) return plain().toString(value, 'g', most_digits / 2);
  const double allowed = std::max(error, std::fabs(value) * std::pow(10.0, -most_digits));
  int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::fabs(value)))));
  const auto rounded = [&] { return std::round(value * std::pow(10.0, decimals)) / std::pow(10.0, decimals); };
  while (std::fabs(rounded() - value) > allowed && decimals < most_digits) ++decimals;
  return grouped.toString(value, 'f', decimals);
}

QString rate_name(const ModelSpec& model) { return model.is_resnet() ? tr("images / s") : tr("tokens / s"); }

QString bandwidth(double bytes_per_second) {
  static constexpr std::array<Unit, 4> units{{{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
  return scaled(bytes_per_second, units);
}

QString flops(double per_second) {
  static constexpr std::array<Unit, 5> units{
      {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}}};
  return scaled(per_second, units);
}

QString rank_name(const RunPlan& plan, int rank) {
  const std::string place = place_of(plan, rank);
  const QString name = tr("rank %1").arg(rank);
  return place.empty() ? name : name + QStringLiteral(" · ") + QString::fromStdString(place);
}

QString signed_percent(double share) {
  if (!std::isfinite(share)) return unknown();
  return (share < 0 ? QStringLiteral("−") : QStringLiteral("+")) + percent(std::fabs(share));
}

QString short_number(double value) {
  if (value >= 1e6) return QString::number(value / 1e6, 'g', 3) + QStringLiteral("M");
  return value >= 1e4 ? QString::number(value / 1e3, 'g', 3) + QStringLiteral("k") : QString::number(value, 'g', 4);
}

QString utf8(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

QStringList list(const std::vector<std::string>& texts) {
  QStringList result;
  for (const std::string& text : texts) result << QString::fromStdString(text);
  return result;
}

QString hyphened(std::string_view name) { return utf8(name).replace(QLatin1Char('_'), QLatin1Char('-')); }

QString words(std::string_view name) { return QString::fromStdString(named(name)); }

QString power_of_two(int exponent) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text = QStringLiteral("2");
  if (exponent < 0) text += QStringLiteral("⁻");
  for (const QChar digit : QString::number(std::abs(exponent))) text += digits[digit.digitValue()];
  return text;
}

QString share(double share) { return share > 0 && share < 5e-4 ? QStringLiteral("<\u00A00.1\u00A0%") : percent(share); }

}  // namespace rankscope::app::text
