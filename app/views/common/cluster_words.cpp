// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/cluster_words.hpp"

#include <QStringList>

#include "app/views/common/text.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t most_changes = 3;

QString value_words(const ChangedFigure& figure) {
  const QString name = text::utf8(figure.name), value = QString::fromStdString(figure.value);
  if (name.endsWith(QLatin1String("_bandwidth"))) return text::bandwidth(value.toDouble());
  return name.endsWith(QLatin1String("_s")) ? text::seconds(value.toDouble()) : value;
}

}  // namespace

QString cluster_words(const ClusterSpec& cluster) {
  const QString name = QString::fromStdString(cluster.label());
  const std::vector<ChangedFigure> changed = changed_figures(cluster);
  if (changed.empty()) return name;
  QStringList words;
  for (std::size_t i = 0; i < changed.size() && i < most_changes; ++i)
    words << text::utf8(changed[i].name) + QStringLiteral("\u00A0=\u00A0") + value_words(changed[i]);
  const QString all = words.join(QStringLiteral(", "));
  return changed.size() > most_changes
             ? text::tr("%1, with %2 and %3 more").arg(name, all).arg(changed.size() - most_changes)
             : text::tr("%1, with %2").arg(name, all);
}

}  // namespace rankscope::app
