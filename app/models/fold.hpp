// SPDX-License-Identifier: GPL-3.0-or-later
// From spans to visible boxes: the segments of one chunk and micro-batch are one box while they are narrow; zooming in
// opens it into blocks and segments.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// The level at which an op of the model is split into parts.
enum class FoldLevel : std::uint8_t { chunk, block, segment };

/// The op that represents `op` at that level.
OpId folded(OpId op, FoldLevel level);

/// Consecutive spans of a lane, drawn as one.
struct Box {
  OpId op;        ///< folded; a single span's own op
  OpId first_op;  ///< of its first span: the op that a click on the box finds in the store
  std::uint32_t step = 0;
  FoldLevel level = FoldLevel::segment;
  std::int64_t begin_ns = 0, active_ns = 0, end_ns = 0;
  std::int32_t count = 1;  ///< spans in it
  std::int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const Box&) const = default;
};

/// Mean lengths of a chunk's ops and their parts in ns, by kind of op and level, without gaps; 0 if there was
/// none.
struct PartLengths {
  std::array<std::array<double, 3>, op_kind_count> ns{};
  double of(OpKind kind, FoldLevel level) const {
    return ns[static_cast<std::size_t>(kind)][static_cast<std::size_t>(level)];
  }
  bool operator==(const PartLengths&) const = default;
};

/// Of the last complete step, from some of its ranks: enough for a mean, and not slower for thousands of ranks.
PartLengths part_lengths(const StoreView& view, Obtained obtained);

/// How far ops are opened at a zoom. A chunk's ops open when a label fits on their parts on average over the run, not
/// per box: otherwise, of two neighbours of similar width, one could be open and the other not.
struct FoldScale {
  double ns_per_pixel = 0;  ///< of the device
  PartLengths parts;
  double device_scale = 1;  ///< device pixels per pixel of the labels' font
  FoldLevel level(OpKind kind) const;
};

/// Folds spans of one lane, in order of begin. Spans with a visible gap between them (over a pixel) stay separate,
/// whatever they belong to: gaps must be visible.
std::vector<Box> fold(std::span<const Span> spans, const FoldScale& scale);

/// The box, folded to `level`, that contains `span`, found in the store: its neighbours with the same folded op and
/// no gap over `gap_ns` between them.
Box box_around(const StoreView& view, LaneKey lane, const Span& span, FoldLevel level, std::int64_t gap_ns);

/// The box that `span` is part of when drawn at this zoom.
Box drawn_box(const StoreView& view, LaneKey lane, const Span& span, const FoldScale& scale);
/// The drawn box after (before) `box` in its lane: the keys step to it.
std::optional<Box> box_after(const StoreView& view, LaneKey lane, const Box& box, const FoldScale& scale);
std::optional<Box> box_before(const StoreView& view, LaneKey lane, const Box& box, const FoldScale& scale);

/// The texts for a box, from the longest to the shortest; the first that fits is drawn. A chunk's box has its
/// micro-batch number, an open one its block and segment.
std::vector<std::string> labels_of(const Box& box);

}  // namespace rankscope
