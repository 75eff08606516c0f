// SPDX-License-Identifier: GPL-3.0-or-later
// From spans to the boxes one sees: the segments of one chunk and micro-batch are one box while they are narrow, and
// open into blocks and segments as one zooms in.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// Of an op of the model, cut at which parts.
enum class FoldLevel : std::uint8_t { chunk, block, segment };

/// The op that stands for `op` at that level.
OpId folded(OpId op, FoldLevel level);

/// Consecutive spans of a lane, drawn as one.
struct Box {
  OpId op;        ///< folded; the span's own where it stands alone
  OpId first_op;  ///< of its first span: what a click on it finds in the store
  std::uint32_t step = 0;
  FoldLevel level = FoldLevel::segment;
  std::int64_t begin_ns = 0, active_ns = 0, end_ns = 0;
  std::int32_t count = 1;  ///< spans in it
  std::int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const Box&) const = default;
};

/// Mean lengths of a chunk's ops and their parts in ns, by kind of op and level, gaps not counted; 0 where none was
/// seen.
struct PartLengths {
  std::array<std::array<double, 3>, op_kind_count> ns{};
  double of(OpKind kind, FoldLevel level) const {
    return ns[static_cast<std::size_t>(kind)][static_cast<std::size_t>(level)];
  }
  bool operator==(const PartLengths&) const = default;
};

/// Of the last whole step, from some of its ranks: enough for a mean, and as quick for thousands of ranks.
PartLengths part_lengths(const StoreView& view, Obtained obtained);

/// How far ops are opened at a zoom. A chunk's ops open when a label fits on their parts on average: over the run, not
/// box by box, or of two neighbours that are nearly as wide one would be open and one not.
struct FoldScale {
  double ns_per_pixel = 0;  ///< of the device
  PartLengths parts;
  double device_scale = 1;  ///< device pixels to a pixel of the labels' font
  FoldLevel level(OpKind kind) const;
};

/// Folds spans of one lane, in order of begin. Spans with a visible gap between them (more than a pixel) stay apart,
/// whatever they belong to: a gap is something to see.
std::vector<Box> fold(std::span<const Span> spans, const FoldScale& scale);

/// The box, folded to `level`, that `span` lies in, looked up in the store: its neighbours with the same folded op and
/// no gap over `gap_ns` between them.
Box box_around(const StoreView& view, LaneKey lane, const Span& span, FoldLevel level, std::int64_t gap_ns);

/// The box that `span` is part of when drawn at this zoom.
Box drawn_box(const StoreView& view, LaneKey lane, const Span& span, const FoldScale& scale);
/// The drawn box after (before) `box` in its lane: what the keys step to.
std::optional<Box> box_after(const StoreView& view, LaneKey lane, const Box& box, const FoldScale& scale);
std::optional<Box> box_before(const StoreView& view, LaneKey lane, const Box& box, const FoldScale& scale);

/// What stands on a box, from the longest text to the shortest; the first that fits is drawn. A chunk's box carries its
/// micro-batch number, an open one its block and segment.
std::vector<std::string> labels_of(const Box& box);

}  // namespace rankscope
