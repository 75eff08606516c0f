// SPDX-License-Identifier: GPL-3.0-or-later
// Describes an op in words: what it is, its time and prediction, and what it waited for.
#pragma once
#include <string>
#include <vector>

#include "app/models/bubble_source.hpp"
#include "app/models/fold.hpp"
#include "app/models/idle.hpp"
#include "app/models/run_plan.hpp"

namespace rankscope {

struct SpanDetails {
  std::string title;               ///< "B:c2:m3 · rank 2 · micro-batch 3"
  std::vector<std::string> lines;  ///< "2.71 ms, predicted 2.58 ms, +5.0 %"; "waited 0.15 ms for rank 3: imbalance"
};

/// Of a box as drawn. `prediction` may be null (then simulated spans of `run` are used), `insight` and `linked` too.
SpanDetails details_of(const StoreView& run, const StoreView* prediction, const StepInsight* insight,
                       const Step* linked, LaneKey lane, const Box& box);
/// Of an idle stretch: its causes, and what is waited for at `time_ns`.
SpanDetails details_of(const StoreView& run, const IdleStretch& stretch, const StepInsight* insight,
                       std::int64_t time_ns);

/// Whether a line states what an op waited for.
bool is_wait(const std::string& line);

/// A cause as a bubble is labelled, from the longest text to the shortest: "exposed send", "first gradient", …
std::vector<std::string> cause_labels(const BubbleStretch& stretch);

/// A kind and purpose in words: "send of activations", "all-reduce of gradients", "backward".
std::string phrase_of(OpId op);

/// "step 37 · 4 ranks · bubble 31.0 % of the step (ideal 27.3, predicted 29.4)", as far as it is known.
std::string step_summary(std::uint32_t step, std::int32_t ranks, TimeRange range, const StepInsight* insight);

}  // namespace rankscope
