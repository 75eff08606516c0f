// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_table.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/views/common/text.hpp"
#include "engine/explain/analyse/exchange.hpp"
#include "engine/explain/facts/facts.hpp"

namespace rankscope::app {
namespace {

/// The fewest and the most ops of the row that one rank issues, of those that issue any.
std::pair<int, int> ops_of_senders(const std::vector<RankProgram>& programs, const TrafficReport& row) {
  int least = -1, most = -1;
  for (const RankProgram& program : programs) {
    const auto ops = static_cast<int>(std::count_if(program.ops.begin(), program.ops.end(), [&](const Op& op) {
      return op.id.kind() == row.collective && op.id.fields().purpose == row.purpose && op.group == row.group;
    }));
    if (ops == 0) continue;
    least = least < 0 ? ops : std::min(least, ops);
    most = std::max(most, ops);
  }
  return {least, most};
}

/// If ranks have different counts, the range and the mean; a mean that is no whole number is called a mean.
QString count_words(const TrafficLine& line) {
  if (line.most > line.least)
    return TrafficModel::tr("%1–%2, mean %3").arg(line.least).arg(line.most).arg(text::number(line.count));
  if (line.count == std::floor(line.count)) return text::count(static_cast<std::int64_t>(line.count));
  return TrafficModel::tr("mean %1").arg(text::number(line.count));
}

}  // namespace

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
    if (figures.context) std::tie(line.least, line.most) = ops_of_senders(figures.context->programs, row);
    if (is_collective(row.collective)) line.algorithm = QString::fromStdString(report->plan.collective.name());
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
  return tr("%1 of %2").arg(text::hyphened(name_of(key.kind)), text::words(name_of(key.purpose)));
}

bool TrafficModel::has_values(int column) const {
  for (int row = 0; row < rowCount(); ++row)
    if (data(index(row, column), Qt::DisplayRole).toString() != text::unknown()) return true;
  return false;
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
      if (line.members <= 2) return text::hyphened(name_of(line.kind));
      return tr("%1 of %2").arg(text::hyphened(name_of(line.kind))).arg(line.members);
    case algorithm: return line.algorithm.isEmpty() ? text::unknown() : line.algorithm;
    case count: return count_words(line);
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
      case algorithm: return tr("Algorithm in the plan; auto is the library's own, whose phases are not visible");
      case count:
        return tr("Ops of one rank in one step: the mean over senders of messages, or over members of a collective");
      case sent:
        return tr(
            "Bytes that one rank sends in one step, counted at the transport: the mean over senders of messages, or "
            "over "
            "members of a collective; – if the library hides them");
      case predicted:
        return tr(
            "Bytes that one rank sends in one step by the plan's algorithm: the mean over senders of messages, or over "
            "members of a collective, of which not all may send");
      case waiting:
        return tr(
            "Time inside the ops of one rank in the selected step, before the peer arrived: the mean over all "
            "ranks that send or receive");
      case transfer:
        return tr(
            "Mean time inside the ops of one rank in the selected step while bytes moved. Bytes divided by "
            "this time are the bandwidth of a message.");
      case bandwidth:
        return tr(
            "As in nccl-tests: size divided by the time of the last rank to arrive, times 2(n−1)/n for an all-reduce, "
            "(n−1)/n for gathers and reduce-scatters");
      default: return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case purpose: return tr("purpose");
    case collective: return tr("op");
    case algorithm: return tr("algorithm");
    case count: return tr("count\nper rank");
    case sent: return tr("sent\nper rank");
    case predicted: return tr("predicted\nper rank");
    case waiting: return tr("waiting\nper rank");
    case transfer: return tr("transfer\nper rank");
    case bandwidth: return tr("bus\nbandwidth");
    case column_count: break;
  }
  return {};
}

}  // namespace rankscope::app
