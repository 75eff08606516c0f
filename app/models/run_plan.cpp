// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/run_plan.hpp"

#include <utility>

#include "app/models/translated.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

/// The spans of the other members of an op's message or collective, and its own, by rank; of a message the sender's
/// first. Without the linked step all ranks are searched: then a message that several of them may have is of none.
std::vector<Span> members_of(const StoreView& view, const Step* linked, Obtained obtained, const Span& span) {
  std::vector<Span> spans;
  const auto add = [&](int rank, OpId op) {
    if (auto found = view.find(rank, span.step, op, obtained)) spans.push_back(std::move(*found));
  };
  const Node node = linked == nullptr ? nobody : linked->find(span.rank, span.op);
  if (node != nobody) {
    if (linked->exchange[node] != nobody)
      for (const Node member : linked->members[linked->exchange[node]])
        add(static_cast<int>(linked->rank_of(member)), linked->ids[member]);
    return spans;
  }
  const bool is_message = !is_collective(span.op.kind());
  const OpId other = is_message ? counterpart(span.op) : span.op;
  if (is_message) spans.push_back(span);
  std::int32_t last = -1;
  for (const LaneKey& lane : view.lanes())
    if (lane.rank != std::exchange(last, lane.rank) && !(is_message && lane.rank == span.rank)) add(lane.rank, other);
  if (is_message) {
    if (spans.size() != 2) return {};
    if (span.op.kind() == OpKind::receive) std::swap(spans[0], spans[1]);
  }
  return spans;
}

OpId transfer(OpKind kind, Purpose purpose, int chunk, int micro_batch) {
  return OpId::of({kind, purpose, chunk, micro_batch, -1, Segment::whole, -1});
}

void add_links(std::vector<MessageLink>& links, const std::vector<Span>& spans) {
  for (std::size_t i = 1; i < spans.size(); ++i)
    links.push_back({{spans[i - 1].rank, spans[i - 1]}, {spans[i].rank, spans[i]}});
}

}  // namespace

std::shared_ptr<const RunPlan> plan_of(const StoreView& view) {
  const Hello* hello = view.hello();
  if (!hello || hello->scenario_toml.empty()) return nullptr;
  try {
    auto plan = std::make_shared<RunPlan>();
    plan->scenario = parse_recorded_scenario(hello->scenario_toml);
    PlanSpec& whole = plan->scenario.plan;
    if (hello->ranks == whole.pipeline && hello->ranks < whole.ranks()) {
      plan->identical_ranks = whole.ranks() / whole.pipeline;
      plan->slow_rank = plan->scenario.fault.slow_rank;
      if (plan->slow_rank >= 0) plan->slow_stage = whole.grid().coordinates_of(plan->slow_rank).pipeline;
      whole.data = whole.tensor = 1;
      whole.sequence_parallel = false;
    }
    plan->grid = whole.grid();
    return plan;
  } catch (const std::exception&) {
    return nullptr;  // a newer scenario: the time line shows ranks without their places
  }
}

std::string place_of(const RunPlan& plan, std::int32_t rank) {
  if (rank < 0 || rank >= plan.grid.size()) return {};
  const Coordinates at = plan.grid.coordinates_of(rank);
  if (plan.grid.is_server(rank)) return translated("server %1", at.data);
  std::string text;
  const auto add = [&](const char* words, int size, int value) {
    if (size > 1) text += (text.empty() ? "" : " · ") + translated(words, value);
  };
  add(QT_TRANSLATE_NOOP("Models", "stage %1"), plan.grid.pipeline, at.pipeline);
  if (plan.grid.pipeline > 1 || plan.grid.tensor > 1)
    add(QT_TRANSLATE_NOOP("Models", "data %1"), plan.grid.data, at.data);
  add(QT_TRANSLATE_NOOP("Models", "tensor %1"), plan.grid.tensor, at.tensor);
  return text;
}

std::string folded_words(const RunPlan& plan, std::int32_t rank) {
  if (plan.slow_rank >= 0 && rank == plan.slow_stage)
    return plan.identical_ranks == 2 ? translated("rank %1 is slow; 1 other waits", plan.slow_rank)
                                     : translated("rank %1 is slow; %2 others wait", plan.slow_rank,
                                                  static_cast<int>(plan.identical_ranks - 1));
  return plan.identical_ranks == 1 ? translated("1 identical rank")
                                   : translated("%1 identical ranks", static_cast<int>(plan.identical_ranks));
}

std::optional<Span> other_end(const StoreView& view, const Step* linked, Obtained obtained, const Span& span) {
  if (!span.op.valid() || !is_communication(span.op.kind()) || is_collective(span.op.kind())) return std::nullopt;
  for (const Span& end : members_of(view, linked, obtained, span))
    if (end.op != span.op) return end;
  return std::nullopt;
}

std::vector<MessageLink> links_of(const StoreView& view, const Step* linked, Obtained obtained, const Span& span) {
  std::vector<MessageLink> links;
  if (!span.op.valid()) return links;
  const OpFields f = span.op.fields();
  if (is_communication(f.kind)) {
    add_links(links, members_of(view, linked, obtained, span));
  } else if (is_model_compute(f.kind) && f.chunk >= 0 && f.micro_batch >= 0) {
    const bool forward = f.kind == OpKind::forward || f.kind == OpKind::recompute;
    const Purpose purpose = forward ? Purpose::pipeline_forward : Purpose::pipeline_backward;
    for (const OpKind kind : {OpKind::receive, OpKind::send})
      if (auto mine = view.find(span.rank, span.step, transfer(kind, purpose, f.chunk, f.micro_batch), obtained))
        add_links(links, members_of(view, linked, obtained, *mine));
  }
  return links;
}

}  // namespace rankscope
