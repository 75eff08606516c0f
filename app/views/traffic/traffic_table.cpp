// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/views/common/text.hpp"
#include "engine/mesh/rank_grid.hpp"

namespace rankscope::app {
namespace {

struct Times {
  std::int64_t waiting_ns = 0, transfer_ns = 0;
  std::set<std::int32_t> ranks;
  std::map<OpId, std::int64_t> shortest_ns;  ///< transfer of each op over the ranks
};

using Key = std::pair<Purpose, OpKind>;

std::map<Key, Times> times_of(const std::vector<Span>& spans) {
  std::map<Key, Times> result;
  for (const Span& span : spans) {
    if (!span.op.valid()) continue;
    const OpFields fields = span.op.fields();
    if (!moves_bytes(fields.kind) || fields.purpose == Purpose::none) continue;
    // A message is one line: the receiver's wait and transfer are the sender's seen from the other side.
    const OpKind kind = fields.kind == OpKind::receive ? OpKind::send : fields.kind;
    Times& times = result[{fields.purpose, kind}];
    times.waiting_ns += span.active_ns - span.begin_ns;
    times.transfer_ns += span.end_ns - span.active_ns;
    times.ranks.insert(span.rank);
    if (fields.kind == OpKind::receive) continue;
    const std::int64_t transfer = span.end_ns - span.active_ns;
    const auto [at, added] = times.shortest_ns.try_emplace(span.op, transfer);
    if (!added) at->second = std::min(at->second, transfer);
  }
  return result;
}

QString words(std::string_view name) {
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))
      .replace(QLatin1Char('_'), QLatin1Char(' '));
}

}  // namespace

std::vector<TrafficLine> traffic_lines(const Figures& figures) {
  std::vector<TrafficLine> lines;
  const Report* report = figures.shown();
  if (report == nullptr) return lines;
  const auto times = times_of(figures.step_spans);
  for (const TrafficReport& row : report->traffic) {
    TrafficLine line;
    line.purpose = row.purpose;
    line.kind = row.collective;
    line.count = row.count;
    line.bytes = figures.run ? row.bytes_per_rank : std::numeric_limits<double>::quiet_NaN();
    line.predicted = row.predicted;
    const auto found = times.find({row.purpose, row.collective});
    if (found != times.end() && !found->second.ranks.empty()) {
      const Times& t = found->second;
      const auto ranks = static_cast<double>(t.ranks.size());
      line.waiting_s = static_cast<double>(t.waiting_ns) * 1e-9 / ranks;
      line.transfer_s = static_cast<double>(t.transfer_ns) * 1e-9 / ranks;
      std::int64_t moving_ns = 0;
      for (const auto& [op, ns] : t.shortest_ns) moving_ns += ns;
      // Ops with one id on several disjoint groups run beside each other: per op, not per group, is one time. A rank's
      // predicted bytes already are what a ring moves over its link.
      const double bytes = std::isnan(line.bytes) ? line.predicted : line.bytes;
      const double ops = static_cast<double>(t.shortest_ns.size());
      if (moving_ns > 0 && row.count > 0 && std::isfinite(bytes))
        line.bus_bandwidth = bytes / row.count * ops / (static_cast<double>(moving_ns) * 1e-9);
    }
    lines.push_back(line);
  }
  return lines;
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
    return QVariant::fromValue(Qt::AlignVCenter | (index.column() <= collective ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  const TrafficLine& line = lines_[static_cast<std::size_t>(index.row())];
  switch (static_cast<Column>(index.column())) {
    case purpose: return words(name_of(line.purpose));
    case collective: return words(name_of(line.kind));
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
    return QVariant::fromValue(Qt::AlignVCenter | (column <= collective ? Qt::AlignLeft : Qt::AlignRight));
  if (role == Qt::ToolTipRole) {
    switch (column) {
      case count: return tr("Ops of one rank in one step");
      case sent:
        return tr("Bytes sent by one rank in one step, counted at the transport; – where the library hides them");
      case predicted: return tr("Bytes that a bandwidth-optimal algorithm sends");
      case waiting: return tr("Mean over the ranks, in the chosen step: inside the op, before the peer came");
      case transfer: return tr("Mean over the ranks, in the chosen step: while bytes moved");
      case bandwidth: return tr("Bytes over each link of a ring, by the transfer time of the last to arrive");
      default: return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case purpose: return tr("purpose");
    case collective: return tr("op");
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
