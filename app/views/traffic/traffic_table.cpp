// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_table.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/views/common/text.hpp"
#include "engine/explain/facts/facts.hpp"

namespace rankscope::app {
namespace {

/// The least and the greatest number of the row's ops that one rank issues, of the ranks that issue any.
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

/// If ranks have different counts, the range and the mean; a mean that is not an integer is called a mean.
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
  if (figures.linked) times = exchange_times(*figures.linked, figures.step_spans);
  for (const TrafficReport& row : report->traffic) {
    TrafficLine line;
    line.purpose = row.purpose;
    line.kind = row.collective;
    line.count = row.count;
    line.bytes = figures.run ? row.bytes_per_rank : std::numeric_limits<double>::quiet_NaN();
    if (report->is_imported) line.payload = row.payload_per_rank;
    line.predicted = row.predicted;
    if (figures.context) std::tie(line.least, line.most) = ops_of_senders(figures.context->programs, row);
    if (is_collective(row.collective) && !report->is_imported)
      line.algorithm = QString::fromStdString(report->plan.collective.name());
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

TrafficModel::TrafficModel(QObject* parent)
    : RowsModel(
          {tr("purpose"), tr("op"), tr("algorithm"), tr("count\nper rank"), tr("given\nper rank"), tr("sent\nper rank"),
           tr("predicted\nper rank"), tr("waiting\nper rank"), tr("transfer\nper rank"), tr("bus\nbandwidth")},
          count, parent) {
  set_title_help(
      {{},
       {},
       tr("Algorithm in the plan; auto is the library's own, whose phases are not visible"),
       tr("Ops of one rank in one step: the mean over senders of messages, or over members of a collective"),
       tr("Bytes that one rank gives to these ops in one step, as the trace says: the size of its messages, or of its "
          "part in the collectives; a library may send more or fewer"),
       tr("Bytes that one rank sends in one step, counted at the transport: the mean over senders of messages, or over "
          "members of a collective; – if the library hides them"),
       tr("Bytes that one rank sends in one step by the plan's algorithm: the mean over senders of messages, or over "
          "members of a collective, of which not all may send"),
       tr("Time inside the ops of one rank in the selected step, before the peer arrived: the mean over all "
          "ranks that send or receive"),
       tr("Mean time inside the ops of one rank in the selected step while bytes moved. Bytes divided by "
          "this time are the bandwidth of a message."),
       tr("As in nccl-tests: size divided by the time of the last rank to arrive, times 2(n−1)/n for an all-reduce, "
          "(n−1)/n for gathers and reduce-scatters")});
}

QString TrafficModel::words_of(const TrafficKey& key) {
  return tr("%1 of %2").arg(text::hyphened(name_of(key.kind)), text::words(name_of(key.purpose)));
}

bool TrafficModel::has_values(int column) const {
  for (int row = 0; row < rowCount(); ++row)
    if (words(row, column) != text::unknown()) return true;
  return false;
}

void TrafficModel::set_lines(std::vector<TrafficLine> lines) {
  lines_ = std::move(lines);
  std::vector<std::vector<Cell>> rows;
  for (const TrafficLine& line : lines_) {
    const QString op = text::hyphened(name_of(line.kind));
    rows.push_back({{text::words(name_of(line.purpose))},
                    {line.members <= 2 ? op : tr("%1 of %2").arg(op).arg(line.members)},
                    {line.algorithm.isEmpty() ? text::unknown() : line.algorithm},
                    {count_words(line)},
                    {text::bytes(line.payload)},
                    {text::bytes(line.bytes)},
                    {text::bytes(line.predicted)},
                    {text::seconds(line.waiting_s)},
                    {text::seconds(line.transfer_s)},
                    {text::bandwidth(line.bus_bandwidth)}});
  }
  set_rows(std::move(rows));
}

}  // namespace rankscope::app
