// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/answer.hpp"

#include <QStringList>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

using nlohmann::json;

/// The list's entry that is about `name`: its rank, its purpose, or else its place.
const json* entry_of(const json& list, const QString& name) {
  bool is_number = false;
  const int number = name.toInt(&is_number);
  for (const json& entry : list) {
    if (!entry.is_object()) continue;
    if (is_number && entry.contains("rank") && entry["rank"] == number) return &entry;
    if (entry.contains("purpose") && entry["purpose"] == name.toStdString()) return &entry;
  }
  if (is_number && number >= 0 && static_cast<std::size_t>(number) < list.size() &&
      (list.empty() || !list.front().is_object() || !list.front().contains("rank")))
    return &list[static_cast<std::size_t>(number)];
  return nullptr;
}

}  // namespace

std::optional<double> report_value(const Report& report, const QString& path) {
  const json root = to_json(report);
  const json* at = &root;
  for (const QString& key : path.split(QLatin1Char('.'))) {
    if (at->is_object()) {
      const auto found = at->find(key.toStdString());
      if (found == at->end()) return std::nullopt;
      at = &*found;
    } else if (at->is_array()) {
      at = entry_of(*at, key);
      if (at == nullptr) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!at->is_number()) return std::nullopt;
  const double value = at->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool Answer::right() const { return open() && std::fabs(*guess - *measured) <= question.tolerance; }

QString value_text(const Question& question, double value) {
  const QString number = question.unit == "%" ? QString::number(value, 'f', 1) : text::number(value);
  return question.unit.empty() ? number : number + QChar(0xA0) + QString::fromStdString(question.unit);
}

}  // namespace rankscope::app
