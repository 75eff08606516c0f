// SPDX-License-Identifier: GPL-3.0-or-later
// Rank × rank: the bytes that each rank sends to each other one in a step, counted if a run reports it, else
// predicted. No widgets.
#pragma once
#include <optional>
#include <vector>

#include "app/session/figures.hpp"
#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

struct LinkMatrix {
  /// By the plan, "auto" collectives as loopback's own. Above 256 ranks neighbours share a cell.
  TrafficMatrix predicted;
  /// [from · side + to], counted at the senders' transport, as links[] of --json; NaN if a sender did not count all
  /// that it sent. Empty if no link is counted.
  std::vector<double> counted;

  bool is_counted(int from, int to) const;
  double shown(int from, int to) const;  ///< counted, else predicted
  double total() const;                  ///< of the shown values
  double greatest() const;
  /// The origin of all senders' bytes, without those that send nothing.
  enum class Source : std::uint8_t { predicted, counted, both };
  Source source() const;
};

/// `only`: ops of that purpose and kind only. These are predicted: links are counted for all purposes together.
/// Nothing if programs are unknown.
std::optional<LinkMatrix> link_matrix(const Figures& figures, std::optional<TrafficKey> only = {});

}  // namespace rankscope::app
