// SPDX-License-Identifier: GPL-3.0-or-later
// The mean lengths of a chunk's ops and their parts: they decide, equally for all ranks, whether ops are drawn
// whole or expanded into blocks or segments.
#pragma once
#include <array>
#include <cstdint>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// Of an op of the model, cut at which parts.
enum class FoldLevel : std::uint8_t { chunk, block, segment };

/// Mean lengths in ns by kind of op and level, gaps not counted; 0 where none was seen.
struct PartLengths {
  std::array<std::array<double, 3>, op_kind_count> ns{};
  double of(OpKind kind, FoldLevel level) const {
    return ns[static_cast<std::size_t>(kind)][static_cast<std::size_t>(level)];
  }
  bool operator==(const PartLengths&) const = default;
};

/// Of the last whole step, from some of its ranks: enough for a mean, and as quick for thousands of ranks.
PartLengths part_lengths(const StoreView& view, Obtained obtained);

}  // namespace rankscope
