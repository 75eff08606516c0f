#include "telemetry/import/join.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "engine/op/words.hpp"
#include "telemetry/event/waiting.hpp"

namespace rankscope::import {
namespace {

constexpr int most_ranks = 1 << 16;
constexpr std::size_t rows_per_batch = 4096;

/// Numbers in order of first use.
template <class Key>
class Numbers {
 public:
  int of(const Key& key) { return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second; }

 private:
  std::map<Key, int> numbers_;
};

/// A place in the run that all members of an exchange share: they count occurrences from the same first one.
using Series = std::tuple<int, std::uint32_t>;  ///< name and step

void sort_by_rank(std::vector<RankTrace>& traces) {
  if (traces.empty()) throw ImportError("there is no trace to import");
  if (traces.size() == 1 && traces[0].rank < 0) traces[0].rank = 0;
  for (const RankTrace& trace : traces) {
    if (trace.rank < 0)
      throw ImportError(
          fmt::format("{}: its rank is unknown: neither distributedInfo nor its name (such as "
                      "rank0.json) says it",
                      trace.file));
    if (trace.rank >= most_ranks)
      throw ImportError(
          fmt::format("{}: it is of rank {}; there may be {}", trace.file, trace.rank, counted(most_ranks, "rank")));
  }
  std::stable_sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  for (std::size_t t = 1; t < traces.size(); ++t) {
    const RankTrace &before = traces[t - 1], &trace = traces[t];
    if (before.rank == trace.rank)
      throw ImportError(fmt::format("{} and {} are both of rank {}; give one trace of each rank", before.file,
                                    trace.file, trace.rank));
    if (before.world_size >= 0 && trace.world_size >= 0 && before.world_size != trace.world_size)
      throw ImportError(fmt::format("{} is of {} and {} of {}: they are not of one run", before.file,
                                    counted(before.world_size, "rank"), trace.file, trace.world_size));
  }
}

/// What a communication is for, as far as its group's name and its kind say. All-reduces of a data group carry
/// gradients; gathers and reduce-scatters are those of sharded parameters; messages to a higher rank are a pipeline's
/// activations.
Purpose purpose_of(OpKind kind, const TracedGroup* group, int rank, int peer) {
  const std::string name = group == nullptr ? "" : lowered(group->name + " " + group->description);
  const auto says = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (kind == OpKind::send || kind == OpKind::receive)
    return (kind == OpKind::send) == (rank < peer) || peer < 0 ? Purpose::pipeline_forward : Purpose::pipeline_backward;
  if (says("tp") || says("tensor")) return Purpose::tensor;
  if (kind == OpKind::all_gather) return Purpose::zero_parameter;
  if (kind == OpKind::reduce_scatter) return Purpose::zero_gradient;
  return Purpose::data_gradient;
}

class Joiner {
 public:
  explicit Joiner(std::vector<RankTrace> traces) : traces_(std::move(traces)) {
    sort_by_rank(traces_);
    ranks_ = traces_.back().rank + 1;
    for (const RankTrace& trace : traces_) ranks_ = std::max(ranks_, trace.world_size);
    if (ranks_ > most_ranks) throw ImportError(fmt::format("{}: its world has {} ranks", traces_[0].file, ranks_));
  }

  ImportedRun join() {
    const std::vector<ClockFit> fits = align(traces_);
    run_.facts.resize(static_cast<std::size_t>(ranks_));
    run_.clocks.resize(static_cast<std::size_t>(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) run_.facts[static_cast<std::size_t>(rank)].rank = rank;
    for (std::size_t t = 0; t < traces_.size(); ++t) {
      run_.clocks[static_cast<std::size_t>(traces_[t].rank)] = fits[t];
      for (const TracedSpan& span : traces_[t].spans) first_ns_ = std::min(first_ns_, fits[t].aligned(span.begin_ns));
    }
    require_one_run(fits);
    number_communication_lanes();
    find_first_sequences();
    match_uneven(fits);
    for (std::size_t t = 0; t < traces_.size(); ++t) add(traces_[t], fits[t]);
    find_waiting();
    describe(fits);
    return std::move(run_);
  }

 private:
  /// In a group of two the other one, if the trace does not say it; −1: unknown.
  static int peer_of(const RankTrace& trace, const TracedExchange& exchange) {
    if (exchange.peer >= 0 || exchange.group < 0) return exchange.peer;
    const std::vector<int>& ranks = trace.groups[static_cast<std::size_t>(exchange.group)].ranks;
    return ranks.size() == 2 ? ranks[ranks[0] == trace.rank ? 1 : 0] : -1;
  }

  /// Groups of equal ranks and name are one. A message's is its two ends.
  int group_of(const RankTrace& trace, const TracedSpan& span, StepFacts::Group& group) {
    if (span.exchange < 0) return -1;
    const TracedExchange& exchange = trace.exchanges[static_cast<std::size_t>(span.exchange)];
    if (span.kind == OpKind::send || span.kind == OpKind::receive) {
      const int peer = peer_of(trace, exchange);
      if (peer < 0) return -1;
      const bool sends = span.kind == OpKind::send;
      const int from = sends ? trace.rank : peer, to = sends ? peer : trace.rank;
      group = {fmt::format("rank {} to {}", from, to), {from, to}};
    } else {
      if (exchange.group < 0) return -1;
      const TracedGroup& traced = trace.groups[static_cast<std::size_t>(exchange.group)];
      group = {traced.description.empty() ? traced.name : traced.description, traced.ranks};
    }
    return groups_.of({group.name, group.ranks});
  }
  int name_of(const RankTrace& trace, const TracedSpan& span, int group) {
    const bool message = group >= 0 && (span.kind == OpKind::send || span.kind == OpKind::receive);
    return names_.of({message ? "message" : trace.names[span.name], group});
  }
  std::int64_t sequence_of(const RankTrace& trace, const TracedSpan& span) const {
    return span.exchange < 0 ? -1 : trace.exchanges[static_cast<std::size_t>(span.exchange)].sequence;
  }

  /// Where all members know sequence numbers, each once, an occurrence is counted from the step's first one.
  void find_first_sequences() {
    for (const RankTrace& trace : traces_) {
      std::map<Series, std::set<std::int64_t>> own;
      for (const TracedSpan& span : trace.spans) {
        StepFacts::Group group;
        const int number = group_of(trace, span, group);
        if (number < 0) continue;
        const Series series{name_of(trace, span, number), span.step};
        const std::int64_t sequence = sequence_of(trace, span);
        if (sequence < 0 || !own[series].insert(sequence).second) unordered_.insert(series);
        const auto [first, fresh] = first_sequence_.try_emplace(series, sequence);
        if (!fresh) first->second = std::min(first->second, sequence);
      }
    }
  }

  /// Ranks that lost some collectives of a group, or whose trace begins later, cannot be matched by order: the ends are
  /// compared with those of the rank that has most.
  void match_uneven(const std::vector<ClockFit>& fits) {
    std::map<Series, std::map<std::size_t, std::vector<std::int64_t>>> ends;  // by trace
    for (std::size_t t = 0; t < traces_.size(); ++t)
      for (const TracedSpan& span : traces_[t].spans) {
        StepFacts::Group group;
        if (span.exchange < 0 || !is_collective(span.kind)) continue;
        const int number = group_of(traces_[t], span, group);
        if (number < 0) continue;
        const Series series{name_of(traces_[t], span, number), span.step};
        if (unordered_.contains(series)) ends[series][t].push_back(fits[t].aligned(span.end_ns));
      }
    for (auto& [series, of_traces] : ends) {
      const auto most = std::ranges::max_element(of_traces, {}, [](const auto& of) { return of.second.size(); });
      for (const auto& [t, own] : of_traces) {
        const std::vector<std::int64_t>& all = most->second;
        if (own.size() == all.size() || fits[t].points == 0) continue;
        std::vector<int>& matched = matched_[{traces_[t].rank, std::get<0>(series), std::get<1>(series)}];
        std::size_t next = 0;
        for (std::size_t i = 0; i < own.size(); ++i, ++next) {
          const std::size_t last = all.size() - (own.size() - i);
          while (next < last && std::abs(all[next + 1] - own[i]) <= std::abs(all[next] - own[i])) ++next;
          matched.push_back(static_cast<int>(next));
        }
        remark(traces_[t].rank,
               fmt::format("collectives that other members have are missing, the rest is matched by their ends: {}",
                           all.size() - own.size()));
      }
    }
  }

  static bool is_numbered_by_name(const TracedLane& lane) {
    return lane.use == TracedUse::communication || lane.use == TracedUse::copy;
  }

  /// A rank's lanes of communication have different numbers, and all members of a group the same one.
  void number_communication_lanes() {
    std::map<std::string, std::set<int>> ranks_of;
    for (const RankTrace& trace : traces_)
      for (const TracedLane& lane : trace.lanes)
        if (is_numbered_by_name(lane)) ranks_of[lane.name].insert(trace.rank);
    std::map<int, std::set<int>> taken;  // by rank
    for (const RankTrace& trace : traces_)
      for (const TracedLane& lane : trace.lanes) {
        if (!is_numbered_by_name(lane) || communication_lanes_.contains(lane.name)) continue;
        int number = 0;
        const std::set<int>& ranks = ranks_of[lane.name];
        while (std::ranges::any_of(ranks, [&](int rank) { return taken[rank].contains(number); })) ++number;
        for (const int rank : ranks) taken[rank].insert(number);
        communication_lanes_[lane.name] = number;
      }
  }

  /// A trace beside which nothing else happened is of another run, or of a clock that is wrong.
  void require_one_run(const std::vector<ClockFit>& fits) {
    constexpr std::int64_t far_ns = 3'600'000'000'000;
    const auto extent_of = [&](std::size_t t) {
      std::int64_t begin = INT64_MAX, end = INT64_MIN;
      for (const TracedSpan& span : traces_[t].spans) {
        begin = std::min(begin, fits[t].aligned(span.begin_ns));
        end = std::max(end, fits[t].aligned(span.end_ns));
      }
      return std::pair(begin, end);
    };
    const auto first = extent_of(0);
    for (std::size_t t = 1; t < traces_.size(); ++t) {
      const auto own = extent_of(t);
      if (fits[t].points > 0 || own.first > own.second || first.first > first.second) continue;
      const std::int64_t apart = std::max(own.first - first.second, first.first - own.second);
      if (apart > far_ns)
        throw ImportError(fmt::format("{} is of {:%F %T} and {} of {:%F %T} (UTC): they are not of one run",
                                      traces_[0].file, fmt::gmtime(first.first / 1'000'000'000), traces_[t].file,
                                      fmt::gmtime(own.first / 1'000'000'000)));
      if (apart > 0)
        remark(traces_[t].rank,
               fmt::format("nothing in it happened while rank {} was traced: its clock may be wrong", traces_[0].rank));
    }
  }

  Lane lane_of(const RankTrace& trace, const TracedLane& lane) {
    const LaneUse use = lane.use == TracedUse::compute ? LaneUse::compute
                        : lane.use == TracedUse::host  ? LaneUse::host
                                                       : LaneUse::communication;
    const int most = use == LaneUse::compute ? observed_compute_lanes
                     : use == LaneUse::host  ? observed_host_lanes
                                             : observed_communication_lanes;
    // Members of a collective must agree on its lane; the numbers of other lanes are the rank's own matter.
    int number = use == LaneUse::communication ? communication_lanes_.at(lane.name) : used_[{trace.rank, use}]++;
    if (number >= most) {
      number = most - 1;
      remark(trace.rank, fmt::format("it has more than {}: those beyond share the last row",
                                     counted(most, use == LaneUse::host ? "thread" : "stream")));
    }
    const Lane result = observed_lane(use, number);
    run_.facts[static_cast<std::size_t>(trace.rank)].lanes.emplace(result, lane.name);
    return result;
  }

  void add(const RankTrace& trace, const ClockFit& clock) {
    StepFacts& facts = run_.facts[static_cast<std::size_t>(trace.rank)];
    std::vector<Lane> lanes;
    for (const TracedLane& lane : trace.lanes) lanes.push_back(lane_of(trace, lane));
    std::map<std::tuple<Lane, int, std::uint32_t>, int> next;
    std::map<std::uint32_t, StepSummary> summaries;
    for (const TracedStep& step : trace.steps) {
      StepSummary& summary = summaries[step.number];
      summary.rank = trace.rank;
      summary.learning_rate = std::numeric_limits<double>::quiet_NaN();
      summary.step = step.number;
      summary.begin_ns = clock.aligned(step.begin_ns) - first_ns_;
      summary.end_ns = clock.aligned(step.end_ns) - first_ns_;
    }
    for (const TracedSpan& traced : trace.spans) {
      StepFacts::Group group;
      const int number = group_of(trace, traced, group);
      const int name = name_of(trace, traced, number);
      facts.names.try_emplace(name, StepFacts::Name{trace.names[traced.name], number});
      if (number >= 0) facts.groups.try_emplace(number, group);
      const Lane lane = lanes[traced.lane];
      const Series series{name, traced.step};
      const int counted_up = next[{lane, name, traced.step}]++;
      const std::int64_t sequence = sequence_of(trace, traced);
      ObservedOp op{traced.kind, Purpose::none, lane, name, counted_up};
      if (number >= 0 && sequence >= 0 && !unordered_.contains(series))
        op.occurrence = static_cast<int>(sequence - first_sequence_.at(series));
      else if (const auto at = matched_.find({trace.rank, name, traced.step}); at != matched_.end())
        op.occurrence = at->second.at(static_cast<std::size_t>(counted_up));
      if (is_communication(traced.kind)) {
        const TracedExchange& exchange = trace.exchanges[static_cast<std::size_t>(traced.exchange)];
        const int at = exchange.group;
        op.purpose = exchange.is_of_unknown_kind
                         ? Purpose::none
                         : purpose_of(traced.kind, at < 0 ? nullptr : &trace.groups[static_cast<std::size_t>(at)],
                                      trace.rank, peer_of(trace, exchange));
        count(summaries, trace, traced, op.purpose);
      }
      const std::int64_t given =
          traced.exchange < 0 ? -1 : trace.exchanges[static_cast<std::size_t>(traced.exchange)].bytes;
      Span span;
      span.rank = trace.rank;
      span.step = traced.step;
      try {
        span.op = OpId::of_observed(op);
      } catch (const std::out_of_range& error) {
        throw ImportError(fmt::format("{}: too many ops in step {}: {}", trace.file, traced.step, error.what()));
      }
      span.begin_ns = span.active_ns = clock.aligned(traced.begin_ns) - first_ns_;
      span.end_ns = std::max(span.begin_ns, clock.aligned(traced.end_ns) - first_ns_);
      run_.spans.push_back(span);
      if (given >= 0)
        run_.given.push_back(
            {trace.rank, span.step, span.op, 0, 0, trace.rank, trace.rank, given, span.begin_ns, span.end_ns});
    }
    add_memory(trace, clock, summaries);
    for (auto& [number, summary] : summaries) run_.summaries.push_back(std::move(summary));
    for (const std::string& text : trace.remarks) remark(trace.rank, text);
  }

  /// A step's peak is also that of the level with which it begins.
  void add_memory(const RankTrace& trace, const ClockFit& clock, std::map<std::uint32_t, StepSummary>& summaries) {
    if (summaries.empty() || trace.memory.empty()) return;
    constexpr auto unclassified = static_cast<std::size_t>(MemoryClass::unclassified);
    auto step = summaries.begin();
    std::int64_t level = 0;
    const auto reach = [&] {
      StepSummary& summary = step->second;
      summary.peak_total_bytes = summary.peak_bytes[unclassified] = std::max(summary.peak_total_bytes, level);
    };
    const auto add = [&](std::int64_t time_ns) {
      reach();
      MemorySample& sample = run_.memory.emplace_back();
      sample.rank = trace.rank;
      sample.step = step->first;
      sample.time_ns = time_ns;
      sample.bytes[unclassified] = level;
    };
    for (const TracedMemory& traced : trace.memory) {
      const std::int64_t time = clock.aligned(traced.time_ns) - first_ns_;
      if (time >= step->second.begin_ns) {
        const bool first = run_.memory.empty() || run_.memory.back().rank != trace.rank;
        if (first && level > 0) add(step->second.begin_ns);
        for (auto next = std::next(step); next != summaries.end() && next->second.begin_ns <= time; ++next) {
          reach();
          step = next;
          reach();
        }
      }
      level = std::max<std::int64_t>(traced.allocated, 0);
      if (time >= step->second.begin_ns) add(time);
    }
    for (auto next = std::next(step); next != summaries.end(); ++next) {
      step = next;
      reach();
    }
  }

  static void count(std::map<std::uint32_t, StepSummary>& summaries, const RankTrace& trace, const TracedSpan& span,
                    Purpose purpose) {
    const auto found = summaries.find(span.step);
    if (found == summaries.end() || span.kind == OpKind::receive) return;
    auto& rows = found->second.traffic;
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const TrafficRow& r) { return r.purpose == purpose && r.kind == span.kind; });
    if (row == rows.end()) row = rows.insert(rows.end(), TrafficRow{purpose, span.kind, 0, 0, -1, GroupKind::self});
    ++row->count;
    const std::int64_t bytes = trace.exchanges[static_cast<std::size_t>(span.exchange)].bytes;
    row->payload_bytes = bytes < 0 || row->payload_bytes < 0 ? -1 : row->payload_bytes + bytes;
  }

  void find_waiting() {
    std::map<std::pair<OpId, std::uint32_t>, std::vector<Span*>> members;
    for (Span& span : run_.spans) {
      if (!is_communication(span.op.kind())) continue;
      const OpId id = span.op.kind() == OpKind::receive ? counterpart(span.op) : span.op;
      const StepFacts::Group* group = run_.facts[static_cast<std::size_t>(span.rank)].group_of(span.op);
      if (group != nullptr && group->ranks.size() > 1) members[{id, span.step}].push_back(&span);
    }
    for (auto& [key, spans] : members) {
      const auto& facts = run_.facts[static_cast<std::size_t>(spans.front()->rank)];
      if (spans.size() != facts.group_of(spans.front()->op)->ranks.size()) continue;
      set_waiting(spans);
    }
  }

  /// Ranks say the same with different counts at its end: these are added up.
  void remark(int rank, const std::string& text) {
    const std::size_t digits = text.find_last_not_of("0123456789") + 1;
    Said& said = said_[text.substr(0, digits)];
    said.ranks.insert(rank);
    if (const auto count = number_in<std::int64_t>(std::string_view(text).substr(digits)))
      said.count = said.count.value_or(0) + *count;
  }

  void remark_of_steps() {
    std::map<std::vector<std::uint32_t>, std::vector<int>> ranks;
    for (const RankTrace& trace : traces_) {
      std::vector<std::uint32_t> steps;
      for (const TracedStep& step : trace.steps) steps.push_back(step.number);
      ranks[steps].push_back(trace.rank);
    }
    if (ranks.size() < 2) return;
    std::string text = "ranks mark different steps:";
    for (const auto& [steps, own] : ranks)
      text += fmt::format("{} steps {} on {}", text.back() == ':' ? "" : ",", listed_up_to(6, steps),
                          (own.size() == 1 ? "rank " : "ranks ") + listed_up_to(6, own));
    run_.remarks.push_back(text);
  }

  void describe(const std::vector<ClockFit>& fits) {
    for (std::size_t t = 1; t < traces_.size(); ++t)
      if (fits[t].points == 0 && (traces_[t].host.empty() || traces_[t].host != traces_[0].host))
        remark(traces_[t].rank, "no collective is known to be shared with the others, so the clock is as traced");
    remark_of_steps();
    Hello& hello = run_.hello;
    const RankTrace& first = traces_.front();
    hello.ranks = ranks_;
    hello.communicator = first.backend;
    hello.device = first.device;
    hello.host = first.host;
    std::uint32_t last_step = 0;
    for (const StepSummary& summary : run_.summaries) last_step = std::max(last_step, summary.step);
    hello.steps = static_cast<std::int32_t>(std::min<std::uint32_t>(last_step, INT32_MAX - 1)) + 1;
    std::vector<int> missing;
    for (int rank = 0; rank < ranks_; ++rank)
      if (std::ranges::none_of(traces_, [&](const RankTrace& trace) { return trace.rank == rank; }))
        missing.push_back(rank);
    for (const auto& [text, said] : said_)
      run_.remarks.push_back(fmt::format("{}{}: {}{}", agreeing(said.ranks.size(), "rank ", "ranks "),
                                         listed_up_to(8, std::vector<int>(said.ranks.begin(), said.ranks.end())), text,
                                         said.count ? fmt::to_string(*said.count) : ""));
    if (!missing.empty())
      run_.remarks.push_back(fmt::format("the {} of {} {} missing: what {} did, and who waited for {}, is unknown",
                                         agreeing(missing.size(), "trace", "traces"),
                                         (missing.size() == 1 ? "rank " : "ranks ") + listed_up_to(8, missing),
                                         agreeing(missing.size(), "is", "are"), agreeing(missing.size(), "it", "they"),
                                         agreeing(missing.size(), "it", "them")));
  }

  std::vector<RankTrace> traces_;  ///< by rank
  int ranks_ = 0;
  std::int64_t first_ns_ = INT64_MAX;
  Numbers<std::pair<std::string, std::vector<int>>> groups_;
  Numbers<std::pair<std::string, int>> names_;
  std::map<std::string, int> communication_lanes_;
  std::map<std::tuple<int, int, std::uint32_t>, std::vector<int>> matched_;  ///< occurrences, by rank, name and step
  std::map<std::pair<int, LaneUse>, int> used_;
  std::map<Series, std::int64_t> first_sequence_;
  std::set<Series> unordered_;
  struct Said {
    std::set<int> ranks;
    std::optional<std::int64_t> count;
  };
  std::map<std::string, Said> said_;  ///< by its text
  ImportedRun run_;
};

}  // namespace

ImportedRun join(std::vector<RankTrace> traces) { return Joiner(std::move(traces)).join(); }

namespace {

/// In batches of one rank each.
template <class Row>
void publish_rows(const std::vector<Row>& rows, const std::function<void(int rank, Event event)>& to) {
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && end - begin < rows_per_batch && rows[end].rank == rows[begin].rank) ++end;
    to(rows[begin].rank, Batch<Row>{Obtained::measured,
                                    ClockDomain::wall,
                                    {rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                     rows.begin() + static_cast<std::ptrdiff_t>(end)}});
    begin = end;
  }
}

}  // namespace

void publish(const ImportedRun& run, const std::function<void(int rank, Event event)>& to) {
  to(-1, run.hello);
  for (const StepFacts& facts : run.facts) {
    ProgramRecord record{facts.rank, 0, to_text(facts)};
    to(facts.rank, std::move(record));
    // Stamps are aligned already: the record says how well.
    const ClockFit& clock = run.clocks[static_cast<std::size_t>(facts.rank)];
    if (facts.rank > 0) to(facts.rank, ClockRecord{facts.rank, 0, 0, clock.is_shared ? 0 : clock.uncertainty_ns});
  }
  publish_rows(run.spans, to);
  publish_rows(run.given, to);
  publish_rows(run.memory, to);
  std::int64_t last_step = -1;
  for (const StepSummary& summary : run.summaries) {
    to(summary.rank, summary);
    last_step = std::max<std::int64_t>(last_step, summary.step);
  }
  to(-1, End{-1, true, last_step, {}, false});
}

}  // namespace rankscope::import
