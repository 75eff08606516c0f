// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_table.hpp"

#include <algorithm>
#include <cmath>

#include "app/views/common/text.hpp"
#include "engine/analyse/exchange.hpp"
#include "engine/facts/facts.hpp"

namespace rankscope::app {
std::vector<TrafficLine> traffic_lines(const Figures& figures) {
  std::vector<TrafficLine> lines;
  const Report* report = figures.shown();
  if (report == nullptr) return lines;
  std::vector<ExchangeTimes> times;
  if (figures.context)
    times = exchange_times(figures.context->programs, figures.context->step.grid, figures.step_spans);
  for (const TrafficReport& row : report->traffic) {
    TrafficLine line;
    line.purpose = row.purpose;
    line.kind = row.collective;
    line.count = row.count;
    line.bytes = figures.run ? row.bytes_per_rank : std::numeric_limits<double>::quiet_NaN();
    line.predicted = row.predicted;
    if (is_collective(row.collective)) line.algorithm = QString::fromStdString(report->plan.collective);
    for (const ExchangeTimes& found : times) {
      if (found.purpose != row.purpose || found.kind != row.collective) continue;
      line.members = found.members;
      line.waiting_s = found.waiting_s;
      line.transfer_s = found.transfer_s;
      line.bus_bandwidth = found.bus_bandwidth;
    }
    lines.push_back(line);
  }
  return lines;
}

QString TrafficModel::words_of(const TrafficKey& key) {
  return tr("%1 of %2").arg(text::words(name_of(key.kind)), text::words(name_of(key.purpose)));
}

void TrafficModel::set_lines(std::vector<TrafficLine> lines) {
  if (lines.size() != lines_.size()) {
    beginResetModel();
    lines_ = std::move(lines);
    endResetModel();
    return;
  }
  lines_ = std::move(lines);
  if (!lines_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
}

int TrafficModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int TrafficModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant TrafficModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::AlignVCenter | (index.column() <= algorithm ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  const TrafficLine& line = lines_[static_cast<std::size_t>(index.row())];
  switch (static_cast<Column>(index.column())) {
    case purpose: return text::words(name_of(line.purpose));
    case collective:
      if (line.members <= 2) return text::words(name_of(line.kind));
      return tr("%1 of %2").arg(text::words(name_of(line.kind))).arg(line.members);
    case algorithm: return line.algorithm.isEmpty() ? text::unknown() : line.algorithm;
    case count:
      return line.count == std::floor(line.count) ? text::count(static_cast<std::int64_t>(line.count))
                                                  : text::number(line.count);
    case sent: return text::bytes(line.bytes);
    case predicted: return text::bytes(line.predicted);
    case waiting: return text::seconds(line.waiting_s);
    case transfer: return text::seconds(line.transfer_s);
    case bandwidth: return text::bandwidth(line.bus_bandwidth);
    case column_count: break;
  }
  return {};
}

QVariant TrafficModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  const auto column = static_cast<Column>(section);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::AlignVCenter | (column <= algorithm ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole) {
    switch (column) {
      case algorithm: return tr("As the plan names it; auto is the communicator's own, whose phases nobody sees");
      case count: return tr("Ops of one rank in one step");
      case sent:
        return tr("Bytes sent by one rank in one step, counted at the transport; – where the library hides them");
      case predicted: return tr("Bytes that the plan's algorithm sends");
      case waiting: return tr("Mean over the ranks, in the chosen step: inside the op, before the peer came");
      case transfer: return tr("Mean over the ranks, in the chosen step: while bytes moved");
      case bandwidth:
        return tr(
            "As nccl-tests has it: size over the time of the last to come, times 2(n−1)/n of an all-reduce, (n−1)/n of "
            "gathers and reduce-scatters");
      default: return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case purpose: return tr("purpose");
    case collective: return tr("op");
    case algorithm: return tr("algorithm");
    case count: return tr("count");
    case sent: return tr("sent a rank");
    case predicted: return tr("predicted");
    case waiting: return tr("waiting");
    case transfer: return tr("transfer");
    case bandwidth: return tr("bus bandwidth");
    case column_count: break;
  }
  return {};
}

}  // namespace rankscope::app
