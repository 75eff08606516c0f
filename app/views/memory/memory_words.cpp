// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of the memory view: its table, and its tool tips.
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/memory/memory_view.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t listed_in_tip = 6;

}  // namespace

ViewTable MemoryView::rows_shown() const {
  ViewTable table{{tr("rank"), tr("at, ns; or its peak")}, {}};
  for (int i = 0; i < memory_class_count; ++i)
    table.titles << tr("%1, bytes").arg(label_of(static_cast<MemoryClass>(i)));
  table.titles << tr("device total, bytes") << tr("predicted total, bytes");
  const auto add = [&](int rank, const QString& at, const ClassBytes& bytes, std::int64_t predicted) {
    QStringList row{QString::number(rank), at};
    for (const std::int64_t part : bytes) row << plain(part);
    table.rows.push_back(row << plain(device_sum(bytes)) << (predicted < 0 ? QString() : plain(predicted)));
  };
  for (const RankPeak& peak : picture_.peaks) add(peak.rank, tr("peak"), peak.bytes, peak.predicted);
  const double columns = static_cast<double>(picture_.columns.size());
  for (std::size_t i = 0; i < picture_.columns.size(); ++i) {
    const double share = static_cast<double>(i) / columns;
    const std::int64_t time =
        picture_.range.begin_ns + std::llround(share * static_cast<double>(picture_.range.length()));
    if (picture_.columns[i].state == MemoryColumn::State::known)
      add(picture_.rank, plain(time), picture_.columns[i].bytes, picture_.predicted[i]);
  }
  return table;
}

QString MemoryView::tip_at(QPoint at) const {
  const QRect time = time_area(), bars = peak_area();
  const ClassBytes* bytes = nullptr;
  OpId op;
  int rank = picture_.rank;
  QString title;
  std::int64_t predicted = -1;
  if (time.contains(at) && static_cast<std::size_t>(at.x() - time.left()) < picture_.columns.size()) {
    const auto index = static_cast<std::size_t>(at.x() - time.left());
    const MemoryColumn& column = picture_.columns[index];
    if (column.state == MemoryColumn::State::unknown)
      return tr("%1: not known, details were lost here").arg(name_of(rank_));
    if (column.state != MemoryColumn::State::known) return {};
    bytes = &column.bytes;
    op = column.op;
    title = name_of(picture_.rank);
    predicted = picture_.predicted[index];
  } else if (bars.contains(at) && !picture_.peaks.empty()) {
    const auto index =
        static_cast<std::size_t>(at.x() - bars.left()) * picture_.peaks.size() / static_cast<std::size_t>(bars.width());
    if (index >= picture_.peaks.size()) return {};
    bytes = &picture_.peaks[index].bytes;
    op = picture_.peaks[index].op;
    rank = picture_.peaks[index].rank;
    title = tr("%1 at its peak").arg(name_of(picture_.peaks[index].rank));
    predicted = picture_.peaks[index].predicted;
  }
  if (bytes == nullptr) return {};
  QString text = QStringLiteral("<b>%1</b> &nbsp; %2").arg(title, text::bytes(static_cast<double>(device_sum(*bytes))));
  if (predicted >= 0) text += tr(" &nbsp; predicted %1").arg(text::bytes(static_cast<double>(predicted)));
  text += QStringLiteral("<table>");
  const auto row = [&](const QString& what, MemoryClass memory) {
    text +=
        QStringLiteral("<tr><td>%1 &nbsp;</td><td align=right>%2</td></tr>").arg(what, text::bytes(of(*bytes, memory)));
  };
  for (auto memory = device_classes.rbegin(); memory != device_classes.rend(); ++memory)
    if (picture_.shows(*memory)) row(label_of(*memory), *memory);
  if (of(*bytes, MemoryClass::host) > 0) row(tr("in host memory"), MemoryClass::host);
  text += QStringLiteral("</table>");
  const AliveList list = alive_while(op, *bytes, rank, {});
  if (list.buffers.empty()) return text;
  text += (list.ended ? tr("alive after %1:<table>") : tr("alive while %1 runs:<table>"))
              .arg(QString::fromStdString(to_token(op)));
  for (std::size_t i = 0; i < list.buffers.size() && i < listed_in_tip; ++i)
    text += QStringLiteral("<tr><td>%1 &nbsp;</td><td align=right>%2</td></tr>")
                .arg(QString::fromStdString(list.buffers[i].name).toHtmlEscaped(),
                     text::bytes(static_cast<double>(list.buffers[i].bytes)));
  text += QStringLiteral("</table>");
  if (list.buffers.size() > listed_in_tip) text += tr("and %1 more").arg(list.buffers.size() - listed_in_tip);
  return text;
}

}  // namespace rankscope::app
