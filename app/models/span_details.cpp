// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/span_details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/models/steps.hpp"
#include "app/models/time_axis.hpp"
#include "app/models/translated.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope {
namespace {

std::string with_hyphens(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string cargo_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::none: return "";
    case Purpose::data_gradient: return translated("gradients");
    case Purpose::zero_parameter: return translated("parameter shards");
    case Purpose::zero_gradient: return translated("gradient shards");
    case Purpose::tensor: return translated("partial activations");
    case Purpose::pipeline_forward: return translated("activations");
    case Purpose::pipeline_backward: return translated("activation gradients");
    case Purpose::embedding: return translated("the tied embedding's gradient");
    case Purpose::norm: return translated("the gradient norm");
    case Purpose::loss: return translated("the loss");
    case Purpose::server: return translated("server traffic");  // gradients to it, parameters from it
    case Purpose::data_parameter: return translated("parameters");
    case Purpose::batch: return translated("samples");
    case Purpose::offload: return translated("optimizer states");
    case Purpose::alone: return translated("random numbers");
    case Purpose::replica_loss: return translated("losses");
  }
  return "";
}

std::string difference_text(std::int64_t run_ns, std::int64_t predicted_ns) {
  if (predicted_ns <= 0) return {};
  const double percent = 100 * (static_cast<double>(run_ns) / static_cast<double>(predicted_ns) - 1);
  return fmt::format(", {}{:.{}f} %", percent < 0 ? "−" : "+", std::fabs(percent), std::fabs(percent) < 10 ? 1 : 0);
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

constexpr const char *said_one_worker = QT_TRANSLATE_NOOP("Models", "1 worker"),
                     *said_workers = QT_TRANSLATE_NOOP("Models", "%1 workers"),
                     *said_one_server = QT_TRANSLATE_NOOP("Models", "1 server"),
                     *said_servers = QT_TRANSLATE_NOOP("Models", "%1 servers"),
                     *said_one_rank = QT_TRANSLATE_NOOP("Models", "1 rank"),
                     *said_ranks = QT_TRANSLATE_NOOP("Models", "%1 ranks");

std::string waited_text(std::int64_t ns, std::int32_t rank, std::string_view cause) {
  std::string text = rank >= 0 ? translated("waited %1 for rank %2", duration_text(ns), rank)
                               : translated("waited %1", duration_text(ns));
  if (!cause.empty()) text += ": " + std::string(cause);
  return text;
}

}  // namespace

std::string phrase_of(OpId op) {
  if (!op.valid()) return translated("op unknown to this version");
  const OpFields f = op.fields();
  std::string text = f.kind == OpKind::input_gradient ? translated("backward, input gradient")
                                                      : translated(with_hyphens(name_of(f.kind)).c_str());
  if (f.kind == OpKind::weight_gradient) text = translated("backward, weight gradient");
  if (f.kind == OpKind::load_batch) text = f.purpose == Purpose::alone ? translated("load") : translated("load batch");
  if (f.kind == OpKind::check) text = translated("check against the definition");
  if (const std::string cargo = cargo_of(f.purpose); !cargo.empty()) text = translated("%1 of %2", text, cargo);
  if (f.kind == OpKind::optimizer && f.segment != Segment::whole) text += ", " + std::string(name_of(f.segment));
  return text;
}

std::vector<std::string> cause_labels(const BubbleStretch& stretch) {
  switch (stretch.cause) {
    case BubbleCause::warm_up: return {translated("warm-up")};
    case BubbleCause::first_gradient: return {translated("first gradient")};
    case BubbleCause::cool_down: return {translated("cool-down")};
    case BubbleCause::schedule: return {translated("schedule")};
    case BubbleCause::peers:
      if (stretch.waits_for_rank >= 0)
        return {translated("waiting for rank %1", stretch.waits_for_rank), translated("waiting")};
      return {translated("waiting for others"), translated("waiting")};
    case BubbleCause::imbalance: return {translated("imbalance")};
    case BubbleCause::exposed_communication: {
      // Waiting for a transfer between other ranks is bubble, not exposed communication of this rank.
      if (stretch.time == TimeClass::bubble && stretch.waits_for_rank >= 0) {
        const int whose = stretch.waits_for_rank;
        return {translated("waiting for rank %1's transfer", whose), translated("rank %1's transfer", whose),
                translated("waiting")};
      }
      if (stretch.time == TimeClass::bubble)
        return {translated("waiting for others' transfers"), translated("waiting")};
      if (stretch.purpose == Purpose::alone)
        return {translated("waiting for the collective"), translated("collective")};
      const bool message =
          stretch.purpose == Purpose::pipeline_forward || stretch.purpose == Purpose::pipeline_backward;
      return {translated("exposed %1", cargo_of(stretch.purpose)),
              message ? translated("exposed send") : translated("exposed"), translated("exposed")};
    }
    case BubbleCause::straggler:
      if (stretch.waits_for_rank >= 0)
        return {translated("slow rank %1", stretch.waits_for_rank), translated("slow rank")};
      return {translated("slow rank")};
    case BubbleCause::workers: return {translated("waiting for workers"), translated("waiting")};
    case BubbleCause::overhead:
      if (stretch.time == TimeClass::bubble && stretch.waits_for_rank >= 0)  // the other rank's
        return {translated("waiting for rank %1", stretch.waits_for_rank), translated("waiting")};
      return {stretch.time == TimeClass::optimizer ? translated("update") : translated("overhead")};
    case BubbleCause::unknown: return {translated("unknown")};
  }
  return {};
}

SpanDetails details_of(const StoreView& run, const StoreView* prediction, const StepInsight* insight,
                       const Step* linked, LaneKey lane, const Box& box) {
  SpanDetails details;
  details.title = name_of_op(run, lane.rank, box.op) + " · " + translated("rank %1", lane.rank);
  const OpFields f = box.op.valid() ? box.op.fields() : OpFields{};
  if (f.micro_batch >= 0) details.title += " · " + translated("micro-batch %1", f.micro_batch);
  std::string what = phrase_of(box.op);
  if (box.count > 1) what += translated(", %1 segments", static_cast<int>(box.count));
  details.lines.push_back(what);

  const bool waits = box.active_ns > box.begin_ns;
  std::string time = duration_text(waits ? box.end_ns - box.active_ns : box.length_ns());
  if (const auto predicted = predicted_length(run, prediction, lane, box); predicted && !waits)
    time += translated(", predicted %1", duration_text(*predicted)) + difference_text(box.length_ns(), *predicted);
  details.lines.push_back(waits ? translated("%1 moving bytes", time) : time);

  if (waits) {
    Span span;
    span.rank = lane.rank;
    span.step = box.step;
    span.op = box.op;
    const auto other = other_end(run, linked, lane.obtained, span);
    details.lines.push_back(waited_text(box.active_ns - box.begin_ns, other ? other->rank : -1, {}));
  } else if (insight && is_compute(lane.lane)) {
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

bool is_wait(const std::string& line) {
  for (const std::string& words : {translated("waited %1", std::string()), translated("waited for: ")})
    if (line.starts_with(words.substr(0, words.find_last_not_of(' ') + 1))) return true;
  return false;
}

SpanDetails details_of(const StoreView& run, const IdleStretch& stretch, const StepInsight* insight,
                       std::int64_t time_ns) {
  SpanDetails details;
  const BubbleStretch& main = stretch.main();
  const std::string what = main.cause == BubbleCause::unknown ? translated("not known")
                           : main.time == TimeClass::bubble   ? translated("bubble")
                           : main.time == TimeClass::optimizer && main.cause == BubbleCause::overhead
                               ? translated("update")
                           : main.cause == BubbleCause::overhead ? translated("idle")
                           : main.cause == BubbleCause::workers  ? translated("no work")
                                                                 : translated("exposed communication");
  details.title = what + " · " + translated("rank %1", stretch.rank) + " · " +
                  translated("%1 without compute", duration_text(stretch.length_ns()));
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
    std::string text = translated("here it waits for rank %1", here->waits_for_rank);
    if (here->waits_for_op.valid()) text += ": " + name_of_op(run, here->waits_for_rank, here->waits_for_op);
    details.lines.push_back(text);
  }
  if (stretch.next.valid()) details.lines.push_back(translated("then %1", name_of_op(run, stretch.rank, stretch.next)));
  return details;
}

std::string step_summary(std::uint32_t step, std::int32_t ranks, TimeRange range, const StepInsight* insight) {
  // Servers compute no model: the bubble is averaged over the workers, and the line names them.
  const bool some = insight != nullptr && contains(insight->run.absent, true);  // ranks without a trace
  if (some) ranks = insight->run.workers;
  const bool serves = insight != nullptr && !some && insight->run.workers > 0 &&
                      insight->run.workers < static_cast<std::int32_t>(insight->run.ranks.size());
  const auto of = [](std::int32_t count, const char* one, const char* many) {
    return count == 1 ? translated(one) : translated(many, count);
  };
  std::string text = translated("step %1", static_cast<int>(step)) + " · ";
  text += serves ? of(insight->run.workers, said_one_worker, said_workers) + ", " +
                       of(static_cast<std::int32_t>(insight->run.ranks.size()) - insight->run.workers, said_one_server,
                          said_servers)
                 : of(ranks, said_one_rank, said_ranks);
  if (!range.empty()) text += " · " + duration_text(range.length());
  if (!insight || !std::isfinite(insight->run.bubble)) return text;
  text += " · " + (serves ? translated("bubble %1 of the workers' step", percent_text(insight->run.bubble))
                          : translated("bubble %1 of the step", percent_text(insight->run.bubble)));
  const auto number = [](double share) { return fmt::format("{:.1f}", share * 100); };
  std::string beside;
  if (std::isfinite(insight->ideal_bubble)) beside = translated("ideal %1", number(insight->ideal_bubble));
  if (insight->predicted && std::isfinite(insight->predicted->bubble))
    beside += (beside.empty() ? "" : ", ") + translated("predicted %1", number(insight->predicted->bubble));
  return beside.empty() ? text : text + " (" + beside + ")";
}

}  // namespace rankscope
