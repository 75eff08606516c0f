// SPDX-License-Identifier: GPL-3.0-or-later
// Rank × rank: how many bytes each rank sends to each other one in a step, counted if a run reports it, else
// predicted. No widgets.
#pragma once
#include <optional>
#include <vector>

#include "app/session/figures.hpp"
#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

struct LinkMatrix {
  /// By the plan, "auto" collectives as loopback's own are. Above 256 ranks neighbours share a cell.
  TrafficMatrix predicted;
  /// [from · side + to], counted at the senders' transport, as links[] of --json; NaN where a sender did not count all
  /// that it sent. Empty where no link is counted.
  std::vector<double> counted;

  bool is_counted(int from, int to) const;
  double shown(int from, int to) const;  ///< counted, else predicted
  double total() const;                  ///< of what is shown
  double greatest() const;
  /// Which of the two all senders' bytes are, those that send nothing left out.
  enum class Source : std::uint8_t { predicted, counted, both };
  Source source() const;
};

/// `only`: ops of that purpose and kind alone. Those are predicted: links are counted for all purposes together.
/// Nothing where programs are not known.
std::optional<LinkMatrix> link_matrix(const Figures& figures, std::optional<TrafficKey> only = {});

}  // namespace rankscope::app
