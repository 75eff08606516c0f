#include "telemetry/page/page_kind.hpp"

#include <algorithm>

#include "engine/explain/analyse/figure_json.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

using figure::known;
using nlohmann::json;

constexpr int most_levels = 16'000;  ///< of memory, over all ranks of a kind

/// "forward of chunk 2, block 5 (qkv), micro-batch 3".
std::string words_of_op(OpId op) {
  if (!op.valid()) return "an op of a kind that this build does not know";
  const OpFields f = op.fields();
  std::string words = spaced(name_of(f.kind));
  if (f.purpose != Purpose::none) words += " (" + spaced(name_of(f.purpose)) + ")";
  std::string of;
  const auto add = [&](std::string_view name, int value) {
    if (value >= 0) of += fmt::format("{}{} {}", of.empty() ? " of " : ", ", name, value);
  };
  add("chunk", f.chunk);
  add("block", f.block);
  if (f.segment != Segment::whole) of += (of.empty() ? " of " : ", ") + std::string(name_of(f.segment));
  add("micro-batch", f.micro_batch);
  add("part", f.index);
  return words + of;
}

json lane_json(const std::vector<Span>& spans, const LaneKey& lane, std::int64_t base, PageOps& ops) {
  json row = json::array();
  std::int64_t before = 0, step_before = 0;
  for (const Span& span : spans) {
    const std::int64_t begin = span.begin_ns - base;
    row.push_back(begin - before);
    row.push_back(span.active_ns - span.begin_ns);
    row.push_back(span.end_ns - span.begin_ns);
    row.push_back(ops.number_of(span.rank, span.op));
    row.push_back(static_cast<std::int64_t>(span.step) - step_before);
    before = begin;
    step_before = span.step;
  }
  return {{"rank", lane.rank}, {"lane", static_cast<int>(lane.lane)}, {"spans", std::move(row)}};
}

/// Each value as the difference to the previous one: most classes seldom change.
template <class Value>
json differences(const std::vector<MemorySample>& samples, Value value) {
  json result = json::array();
  std::int64_t before = 0;
  for (const MemorySample& sample : samples) {
    const std::int64_t now = value(sample);
    result.push_back(now - before);
    before = now;
  }
  return result;
}

json memory_json(const std::vector<MemorySample>& samples, int rank, std::int64_t base) {
  json classes = json::array();
  for (int c = 0; c < memory_class_count; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const auto memory = static_cast<MemoryClass>(c);
    // Host memory is separate.
    if (memory == MemoryClass::host ||
        std::all_of(samples.begin(), samples.end(), [&](const MemorySample& s) { return s.bytes[at] == 0; }))
      continue;
    classes.push_back({{"class", c},
                       {"name", name_of(memory)},
                       {"values", differences(samples, [at](const MemorySample& s) { return s.bytes[at]; })}});
  }
  return {{"rank", rank},
          {"times", differences(samples, [base](const MemorySample& s) { return s.time_ns - base; })},
          {"classes", std::move(classes)}};
}

/// Adjacent idle ranges of a rank, with their causes: a range is split where the awaited op changes, and causes may
/// alternate.
struct IdleBlock {
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::map<std::pair<BubbleCause, TimeClass>, BubbleStretch> causes;  ///< begin is 0, end their total length; the last
                                                                      ///< op waited for
};

std::vector<IdleBlock> idle_blocks(const StepAnalysis& step) {
  std::vector<IdleBlock> blocks;
  for (const BubbleStretch& one : step.stretches) {
    if (blocks.empty() || blocks.back().rank != one.rank || blocks.back().end_ns != one.begin_ns)
      blocks.push_back({one.rank, one.begin_ns, one.begin_ns, {}});
    IdleBlock& block = blocks.back();
    block.end_ns = one.end_ns;
    BubbleStretch& together = block.causes[{one.cause, one.time}];
    const std::int64_t length = together.end_ns + one.length_ns();
    together = one;
    together.begin_ns = 0;
    together.end_ns = length;
  }
  return blocks;
}

/// [rank, begin, length, [[cause, length, rank waited for, op waited for, counted as] …, the longest first]].
json idle_json(const StepAnalysis& step, std::int64_t base, const PageOps& ops) {
  json idle = json::array();
  for (const IdleBlock& block : idle_blocks(step)) {
    std::vector<BubbleStretch> reasons;
    for (const auto& [key, one] : block.causes) reasons.push_back(one);
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const BubbleStretch& a, const BubbleStretch& b) { return a.end_ns > b.end_ns; });
    json parts = json::array();
    for (const BubbleStretch& one : reasons)
      parts.push_back({static_cast<int>(one.cause), one.end_ns, one.waits_for_rank, ops.find(one.waits_for_op),
                       static_cast<int>(one.time)});
    idle.push_back({block.rank, block.begin_ns - base, block.end_ns - block.begin_ns, std::move(parts)});
  }
  return idle;
}

json step_json(std::uint32_t number, TimeRange range, std::int64_t base,
               const std::map<std::uint32_t, double>& losses) {
  const auto loss = losses.find(number);
  return {{"step", number},
          {"begin", range.begin_ns - base},
          {"end", range.end_ns - base},
          {"loss", loss == losses.end() ? json(nullptr) : known(loss->second)},
          {"workers", 0},
          {"bubble", nullptr},
          {"bubble_span", nullptr},
          {"shares", nullptr},
          {"idle", json::array()}};
}

void add_analysis(json& to, const StepAnalysis& step, std::int64_t base, const PageOps& ops) {
  json shares = json::array();
  for (int t = 0; t < time_class_count; ++t) shares.push_back(known(step.average[static_cast<TimeClass>(t)]));
  to["workers"] = step.workers;
  to["bubble"] = known(step.bubble);
  to["bubble_span"] = known(step.bubble_span);
  to["shares"] = std::move(shares);
  to["idle"] = idle_json(step, base, ops);
}

}  // namespace

std::size_t PageOps::number_of(int rank, OpId op) {
  const auto [found, is_new] = numbers_.try_emplace(op, numbers_.size());
  if (is_new) {
    const OpFields fields = op.valid() ? op.fields() : OpFields{};
    ops_.push_back({to_token(op), static_cast<int>(class_of(op)), words_of_op(op), fields.block, fields.micro_batch});
  }
  if (options_.bytes)
    if (const auto bytes = options_.bytes(rank, op)) bytes_[fmt::format("{}:{}", rank, found->second)] = *bytes;
  return found->second;
}

std::int64_t PageOps::find(OpId op) const {
  const auto found = numbers_.find(op);
  return found == numbers_.end() ? -1 : static_cast<std::int64_t>(found->second);
}

PageSteps choose_steps(const StoreView& run, Obtained obtained, std::size_t most_spans) {
  PageSteps steps;
  steps.obtained = obtained;
  steps.all = run.steps(obtained);
  for (auto step = steps.all.rbegin(); step != steps.all.rend(); ++step) {
    const std::size_t spans = run.step_spans(obtained, *step).size();
    if (!steps.shown.empty() && steps.spans + spans > most_spans) break;
    steps.spans += spans;
    steps.shown.insert(steps.shown.begin(), *step);
  }
  return steps;
}

json page_kind(const StoreView& run, const PageSteps& steps, const RunContext* context,
               const std::map<std::uint32_t, double>& losses, const std::string& words, PageOps& ops) {
  TimeRange shown{INT64_MAX, INT64_MIN};
  std::vector<std::pair<std::uint32_t, TimeRange>> ranges;
  for (const std::uint32_t step : steps.shown) {
    const auto range = run.step_range(steps.obtained, step);
    if (!range) continue;
    ranges.emplace_back(step, *range);
    shown.include(*range);
  }
  const std::int64_t base = shown.begin_ns;
  std::map<LaneKey, std::vector<Span>> lanes;
  for (const std::uint32_t step : steps.shown)
    for (const Span& span : run.step_spans(steps.obtained, step))
      if (span.op.valid()) {
        lanes[{span.rank, span.op.lane(), steps.obtained}].push_back(span);
        shown.end_ns = std::max(shown.end_ns, span.end_ns);
      }
  json kind{{"obtained", name_of(steps.obtained)},
            {"words", words},
            {"end", shown.end_ns - base},
            {"spans", steps.spans},
            {"all_steps", steps.all.size()},
            {"lanes", json::array()},
            {"memory", json::array()},
            {"gaps", json::array()},
            {"steps", json::array()}};
  std::map<int, bool> ranks;
  for (auto& [lane, spans] : lanes) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
    kind["lanes"].push_back(lane_json(spans, lane, base, ops));
    ranks[lane.rank] = true;
  }
  const int buckets = std::max(40, most_levels / 2 / std::max(1, static_cast<int>(ranks.size())));
  for (const auto& [rank, has] : ranks) {
    const auto samples = run.memory(rank, steps.obtained, shown, buckets);
    if (!samples.empty()) kind["memory"].push_back(memory_json(samples, rank, base));
    for (const Gap& gap : run.gaps(rank))
      if (gap.end_ns > shown.begin_ns && gap.begin_ns < shown.end_ns)
        kind["gaps"].push_back({rank, gap.begin_ns - base, gap.end_ns - base});
  }
  for (const auto& [step, range] : ranges) {
    json row = step_json(step, range, base, losses);
    if (context != nullptr)
      add_analysis(row,
                   analyse_step(*context->linked, spans_around(run, *context, steps.obtained, step), range, step,
                                context->planned()),
                   base, ops);
    kind["steps"].push_back(std::move(row));
  }
  return kind;
}

}  // namespace rankscope
