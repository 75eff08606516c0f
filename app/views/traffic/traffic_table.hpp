// SPDX-License-Identifier: GPL-3.0-or-later
// The traffic between ranks in a step, by purpose and kind of op: bytes, prediction, waiting and transfer times,
// bandwidth.
#pragma once
#include <QString>
#include <limits>
#include <vector>

#include "app/session/figures.hpp"
#include "app/views/common/rows_model.hpp"
#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

struct TrafficLine {
  Purpose purpose = Purpose::none;
  OpKind kind = OpKind::send;
  double count = 0;                                              ///< ops of a sender in one step, the mean
  int least = -1, most = -1;                                     ///< the same by the plan, of all senders; -1 unknown
  double bytes = std::numeric_limits<double>::quiet_NaN();       ///< a sender's in a step, counted at the transport
  double payload = std::numeric_limits<double>::quiet_NaN();     ///< what a rank gives to these ops, of an imported run
  double predicted = std::numeric_limits<double>::quiet_NaN();   ///< as `bytes`, predicted
  double waiting_s = std::numeric_limits<double>::quiet_NaN();   ///< mean of both ends' ranks: before the peer arrived
  double transfer_s = std::numeric_limits<double>::quiet_NaN();  ///< mean over senders: while bytes moved
  int members = 0;                                               ///< of its groups; 2 of messages, 0 unknown
  QString algorithm;                                             ///< as the plan names it; empty of messages
  /// Bus bandwidth, bytes/s: from exchange_times.
  double bus_bandwidth = std::numeric_limits<double>::quiet_NaN();
};

/// One line per purpose and kind, in the order of the report. Times and bandwidths are of the chosen step, and need to
/// know who takes part in which exchange (Figures::linked).
std::vector<TrafficLine> traffic_lines(const Figures& figures);

class TrafficModel : public RowsModel {
  Q_OBJECT
 public:
  enum Column {
    purpose,
    collective,
    algorithm,
    count,
    given,
    sent,
    predicted,
    waiting,
    transfer,
    bandwidth,
    column_count
  };
  explicit TrafficModel(QObject* parent = nullptr);

  void set_lines(std::vector<TrafficLine> lines);
  const std::vector<TrafficLine>& lines() const { return lines_; }
  /// "all-reduce of data gradient"
  static QString words_of(const TrafficKey& key);
  /// Whether any line has a value in it.
  bool has_values(int column) const;

 private:
  std::vector<TrafficLine> lines_;
};

}  // namespace rankscope::app
