// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/span_details.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/models/steps.hpp"
#include "app/models/time_axis.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

std::string with_hyphens(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string_view cargo_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::none: return "";
    case Purpose::data_gradient: return "gradients";
    case Purpose::zero_parameter: return "parameter shards";
    case Purpose::zero_gradient: return "gradient shards";
    case Purpose::tensor: return "partial activations";
    case Purpose::pipeline_forward: return "activations";
    case Purpose::pipeline_backward: return "activation gradients";
    case Purpose::embedding: return "the tied embedding's gradient";
    case Purpose::norm: return "the gradient norm";
    case Purpose::loss: return "the loss";
    case Purpose::server: return "server traffic";  // gradients to it, parameters from it
    case Purpose::data_parameter: return "parameters";
    case Purpose::batch: return "samples";
    case Purpose::offload: return "optimizer states";
    case Purpose::alone: return "random numbers";
  }
  return "";
}

std::string difference_text(std::int64_t run_ns, std::int64_t predicted_ns) {
  if (predicted_ns <= 0) return {};
  const double percent = 100 * (static_cast<double>(run_ns) / static_cast<double>(predicted_ns) - 1);
  char text[32];
  std::snprintf(text, sizeof text, ", %s%.*f %%", percent < 0 ? "−" : "+", std::fabs(percent) < 10 ? 1 : 0,
                std::fabs(percent));
  return text;
}

std::optional<std::int64_t> predicted_length(const StoreView& run, const StoreView* prediction, LaneKey lane,
                                             const Box& box) {
  if (lane.obtained == Obtained::simulated) return std::nullopt;
  const StoreView& there = prediction ? *prediction : run;
  const auto range = run.step_range(lane.obtained, box.step);
  const auto step = predicted_for(there, {box.step, range.value_or(TimeRange{})});
  if (!step) return std::nullopt;
  const auto first = there.find(lane.rank, step->predicted_step, box.first_op, Obtained::simulated);
  if (!first) return std::nullopt;
  const Box same = box_around(there, {lane.rank, lane.lane, Obtained::simulated}, *first, box.level, box.length_ns());
  return same.length_ns();
}

std::string waited_text(std::int64_t ns, std::int32_t rank, std::string_view cause) {
  std::string text = "waited " + duration_text(ns);
  if (rank >= 0) text += " for rank " + std::to_string(rank);
  if (!cause.empty()) text += ": " + std::string(cause);
  return text;
}

}  // namespace

std::string phrase_of(OpId op) {
  if (!op.valid()) return "op unknown to this version";
  const OpFields f = op.fields();
  std::string text = f.kind == OpKind::input_gradient ? "backward, input gradient" : with_hyphens(name_of(f.kind));
  if (f.kind == OpKind::weight_gradient) text = "backward, weight gradient";
  if (f.kind == OpKind::load_batch) text = f.purpose == Purpose::alone ? "load" : "load batch";
  if (f.kind == OpKind::check) text = "check against the definition";
  if (const auto cargo = cargo_of(f.purpose); !cargo.empty()) text += " of " + std::string(cargo);
  if (f.kind == OpKind::optimizer && f.segment != Segment::whole) text += ", " + std::string(name_of(f.segment));
  return text;
}

std::vector<std::string> cause_labels(const BubbleStretch& stretch) {
  switch (stretch.cause) {
    case BubbleCause::warm_up: return {"warm-up"};
    case BubbleCause::first_gradient: return {"first gradient"};
    case BubbleCause::cool_down: return {"cool-down"};
    case BubbleCause::schedule: return {"schedule"};
    case BubbleCause::peers:
      if (stretch.waits_for_rank >= 0) return {"waiting for rank " + std::to_string(stretch.waits_for_rank), "waiting"};
      return {"waiting for others", "waiting"};
    case BubbleCause::imbalance: return {"imbalance"};
    case BubbleCause::exposed_communication: {
      // Others' bytes on the chain that this rank waits for are bubble, not exposed communication of its own.
      if (stretch.time == TimeClass::bubble && stretch.waits_for_rank >= 0) {
        const std::string whose = "rank " + std::to_string(stretch.waits_for_rank);
        return {"waiting for " + whose + "'s transfer", whose + "'s transfer", "waiting"};
      }
      if (stretch.time == TimeClass::bubble) return {"waiting for others' transfers", "waiting"};
      if (stretch.purpose == Purpose::alone) return {"waiting for the collective", "collective"};
      const bool message =
          stretch.purpose == Purpose::pipeline_forward || stretch.purpose == Purpose::pipeline_backward;
      return {"exposed " + std::string(cargo_of(stretch.purpose)), message ? "exposed send" : "exposed", "exposed"};
    }
    case BubbleCause::straggler:
      if (stretch.waits_for_rank >= 0) return {"slow rank " + std::to_string(stretch.waits_for_rank), "slow rank"};
      return {"slow rank"};
    case BubbleCause::workers: return {"waiting for workers", "waiting"};
    case BubbleCause::overhead: return {stretch.time == TimeClass::optimizer ? "update" : "overhead"};
    case BubbleCause::unknown: return {"unknown"};
  }
  return {};
}

SpanDetails details_of(const StoreView& run, const StoreView* prediction, const StepInsight* insight,
                       const RunPlan* plan, LaneKey lane, const Box& box) {
  SpanDetails details;
  details.title = to_token(box.op) + " · rank " + std::to_string(lane.rank);
  const OpFields f = box.op.valid() ? box.op.fields() : OpFields{};
  if (f.micro_batch >= 0) details.title += " · micro-batch " + std::to_string(f.micro_batch);
  std::string what = phrase_of(box.op);
  if (box.count > 1) what += ", " + std::to_string(box.count) + " segments";
  details.lines.push_back(what);

  const bool waits = box.active_ns > box.begin_ns;
  std::string time = duration_text(waits ? box.end_ns - box.active_ns : box.length_ns());
  if (const auto predicted = predicted_length(run, prediction, lane, box); predicted && !waits)
    time += ", predicted " + duration_text(*predicted) + difference_text(box.length_ns(), *predicted);
  details.lines.push_back(waits ? time + " moving bytes" : time);

  if (waits) {
    Span span;
    span.rank = lane.rank;
    span.step = box.step;
    span.op = box.op;
    const auto other = other_end(run, plan, lane.obtained, span);
    details.lines.push_back(waited_text(box.active_ns - box.begin_ns, other ? other->rank : -1, {}));
  } else if (insight && lane.lane == Lane::compute) {
    std::int64_t waited = 0;
    const BubbleStretch* longest = nullptr;
    for (const BubbleStretch& stretch : insight->run.stretches)
      if (stretch.rank == lane.rank && stretch.next == box.first_op) {
        waited += stretch.length_ns();
        if (!longest || stretch.length_ns() > longest->length_ns()) longest = &stretch;
      }
    if (longest) details.lines.push_back(waited_text(waited, longest->waits_for_rank, cause_labels(*longest).front()));
  }
  return details;
}

SpanDetails details_of(const IdleStretch& stretch, const StepInsight* insight, std::int64_t time_ns) {
  SpanDetails details;
  const BubbleStretch& main = stretch.main();
  const char* what = main.cause == BubbleCause::unknown                                         ? "not known"
                     : main.time == TimeClass::bubble                                           ? "bubble"
                     : main.time == TimeClass::optimizer && main.cause == BubbleCause::overhead ? "update"
                     : main.cause == BubbleCause::overhead                                      ? "idle"
                     : main.cause == BubbleCause::workers                                       ? "no work"
                                                          : "exposed communication";
  details.title = std::string(what) + " · rank " + std::to_string(stretch.rank) + " · " +
                  duration_text(stretch.length_ns()) + " without compute";
  for (const IdlePart& part : stretch.parts) {
    const double share = static_cast<double>(part.length_ns) / static_cast<double>(stretch.length_ns());
    if (share < 0.005 && &part != &stretch.parts.front()) break;
    details.lines.push_back(cause_labels(part.longest).front() + " " + duration_text(part.length_ns) +
                            (stretch.parts.size() > 1 ? ", " + percent_text(share) : ""));
  }
  const BubbleStretch* here = nullptr;
  if (insight)
    for (const BubbleStretch& piece : insight->run.stretches)
      if (piece.rank == stretch.rank && piece.begin_ns <= time_ns && time_ns < piece.end_ns) here = &piece;
  if (here && here->waits_for_rank >= 0) {
    std::string text = "here it waits for rank " + std::to_string(here->waits_for_rank);
    if (here->waits_for_op.valid()) text += ": " + to_token(here->waits_for_op);
    details.lines.push_back(text);
  }
  if (stretch.next.valid()) details.lines.push_back("then " + to_token(stretch.next));
  return details;
}

std::string step_summary(std::uint32_t step, std::int32_t ranks, TimeRange range, const StepInsight* insight) {
  // Servers have no model to compute: the bubble is over the workers, and the line says so by what it counts.
  const bool serves = insight != nullptr && insight->run.workers > 0 &&
                      insight->run.workers < static_cast<std::int32_t>(insight->run.ranks.size());
  std::string text = "step " + std::to_string(step) + " · ";
  text += serves ? counted(insight->run.workers, "worker") + ", " +
                       counted(static_cast<std::int32_t>(insight->run.ranks.size()) - insight->run.workers, "server")
                 : counted(ranks, "rank");
  if (!range.empty()) text += " · " + duration_text(range.length());
  if (!insight || !std::isfinite(insight->run.bubble)) return text;
  text += " · bubble " + percent_text(insight->run.bubble) + (serves ? " of the workers' step" : " of the step");
  const auto number = [](double share) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%.1f", share * 100);
    return std::string(digits);
  };
  std::string beside;
  if (std::isfinite(insight->ideal_bubble)) beside = "ideal " + number(insight->ideal_bubble);
  if (insight->predicted && std::isfinite(insight->predicted->bubble))
    beside += (beside.empty() ? "" : ", ") + std::string("predicted ") + number(insight->predicted->bubble);
  return beside.empty() ? text : text + " (" + beside + ")";
}

}  // namespace rankscope
