// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/run_plan.hpp"

#include "app/models/translated.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

GroupKind group_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::data_gradient:
    case Purpose::data_parameter:
    case Purpose::batch:
    case Purpose::alone:
    case Purpose::replica_loss:
    case Purpose::zero_parameter:
    case Purpose::zero_gradient: return GroupKind::data;
    case Purpose::tensor:
    case Purpose::loss: return GroupKind::tensor;
    case Purpose::pipeline_forward:
    case Purpose::pipeline_backward: return GroupKind::pipeline;
    case Purpose::embedding: return GroupKind::embedding;
    case Purpose::offload: return GroupKind::self;
    case Purpose::none:
    case Purpose::norm:
    case Purpose::server: return GroupKind::world;
  }
  return GroupKind::world;
}

// Ranks that may have the other end of a message of `rank`, or a part of its collective: its group, if the plan or, of
// an imported run, the op's facts tell it.
std::vector<std::int32_t> partners(const StoreView& view, const RunPlan* plan, std::int32_t rank, OpId op) {
  if (const StepFacts* facts = view.facts(rank))
    if (const StepFacts::Group* group = facts->group_of(op)) return group->ranks;
  if (plan && rank < plan->grid.size()) return plan->grid.group_of(rank, group_of(op.fields().purpose));
  std::vector<std::int32_t> ranks;
  for (const LaneKey& lane : view.lanes())
    if (ranks.empty() || ranks.back() != lane.rank) ranks.push_back(lane.rank);
  return ranks;
}

OpId transfer(OpKind kind, Purpose purpose, int chunk, int micro_batch) {
  return OpId::of({kind, purpose, chunk, micro_batch, -1, Segment::whole, -1});
}

void add_message(std::vector<MessageLink>& links, const StoreView& view, const RunPlan* plan, Obtained obtained,
                 const Span& span) {
  const auto other = other_end(view, plan, obtained, span);
  if (!other) return;
  const MessageEnd here{span.rank, span}, there{other->rank, *other};
  links.push_back(span.op.kind() == OpKind::send ? MessageLink{here, there} : MessageLink{there, here});
}

}  // namespace

std::shared_ptr<const RunPlan> plan_of(const StoreView& view) {
  const Hello* hello = view.hello();
  if (!hello || hello->scenario_toml.empty()) return nullptr;
  try {
    auto plan = std::make_shared<RunPlan>();
    plan->scenario = parse_scenario(hello->scenario_toml, "the session's scenario");
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

std::optional<Span> other_end(const StoreView& view, const RunPlan* plan, Obtained obtained, const Span& span) {
  if (!span.op.valid()) return std::nullopt;
  const OpFields f = span.op.fields();
  if (f.kind != OpKind::send && f.kind != OpKind::receive) return std::nullopt;
  const bool planned = !span.op.is_observed();
  const bool onward = (f.purpose != Purpose::pipeline_backward) == (f.kind == OpKind::send);
  if (planned && (f.chunk < 0 || (!onward && f.chunk == 0))) return std::nullopt;
  const OpId other = counterpart(span.op);
  for (const std::int32_t rank : partners(view, plan, span.rank, span.op))
    if (auto found = view.find(rank, span.step, other, obtained)) return found;
  return std::nullopt;
}

std::vector<MessageLink> links_of(const StoreView& view, const RunPlan* plan, Obtained obtained, const Span& span) {
  std::vector<MessageLink> links;
  if (!span.op.valid()) return links;
  const OpFields f = span.op.fields();
  if (f.kind == OpKind::send || f.kind == OpKind::receive) {
    add_message(links, view, plan, obtained, span);
  } else if (is_collective(f.kind)) {
    std::optional<Span> before;
    for (const std::int32_t rank : partners(view, plan, span.rank, span.op))
      if (auto member = view.find(rank, span.step, span.op, obtained)) {
        if (before) links.push_back({{before->rank, *before}, {member->rank, *member}});
        before = member;
      }
  } else if (is_model_compute(f.kind) && f.chunk >= 0 && f.micro_batch >= 0) {
    const bool forward = f.kind == OpKind::forward || f.kind == OpKind::recompute;
    const Purpose purpose = forward ? Purpose::pipeline_forward : Purpose::pipeline_backward;
    for (const OpKind kind : {OpKind::receive, OpKind::send})
      if (auto mine = view.find(span.rank, span.step, transfer(kind, purpose, f.chunk, f.micro_batch), obtained))
        add_message(links, view, plan, obtained, *mine);
  }
  return links;
}

}  // namespace rankscope
