#include "telemetry/store/run_store.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "engine/op/contains.hpp"
#include "telemetry/store/rank_data.hpp"
#include "telemetry/store/store_view.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t much_late = 20'000;  ///< spans: merging them needs some milliseconds

using RanksData = std::map<std::int32_t, std::unique_ptr<RankData>>;

/// The views of all ranks, created in parallel if many messages were late. No other thread uses them at this time.
void make_views(const RanksData& ranks) {
  std::int64_t late = 0;
  for (const auto& [number, data] : ranks) late += data->late_count();
  const std::size_t threads = std::min<std::size_t>(std::thread::hardware_concurrency(), ranks.size());
  if (late < much_late || threads < 2) return;
  std::vector<RankData*> all;
  for (const auto& [number, data] : ranks) all.push_back(data.get());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) all[i]->view();
  };
  std::vector<std::future<void>> others;
  try {
    while (others.size() + 1 < threads) others.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error&) {
    // No more threads can be created: with fewer it is slower, but the views are the same.
  }
  work();
  for (std::future<void>& other : others) other.get();
}

/// Keeps a store small during a long run: old steps are merged over the ranks, block by block.
class StepFolder {
 public:
  /// Does not fold the latest `keep` steps; 0: folds nothing.
  explicit StepFolder(std::uint32_t keep) : keep_(keep) {}
  bool is_folded(std::uint32_t step) const { return step < folded_.before; }
  /// Called for each new step: folds old steps. `ranks_of_run`: 0 if unknown.
  void reached(std::uint32_t step, const RanksData& ranks, std::int32_t ranks_of_run);
  /// A summary of a folded step; returns whether it was missing there.
  bool add_late(const StepSummary& summary, RankData& rank, std::int32_t ranks_of_run);
  /// Null while nothing is folded.
  std::shared_ptr<const FoldedSteps> view();

 private:
  static constexpr std::uint32_t block = StepMap<StepTotals>::block_steps;

  std::uint32_t keep_;
  FoldedSteps folded_;
  std::shared_ptr<const FoldedSteps> view_;
  std::map<std::uint32_t, std::set<std::int32_t>>
      reported_;  ///< ranks that reported folded steps that not all ranks have reported
};

void StepFolder::reached(std::uint32_t step, const RanksData& ranks, std::int32_t ranks_of_run) {
  if (keep_ == 0 || step < keep_ || (step - keep_) / block * block <= folded_.before) return;
  folded_.before = (step - keep_) / block * block;
  for (const auto& [number, data] : ranks)
    data->fold(folded_, [this](const StepSummary& summary) { reported_[summary.step].insert(summary.rank); });
  std::erase_if(reported_, [&](const auto& of_step) {
    return ranks_of_run > 0 && static_cast<std::int32_t>(of_step.second.size()) == ranks_of_run;
  });
  view_.reset();
}

bool StepFolder::add_late(const StepSummary& summary, RankData& rank, std::int32_t ranks_of_run) {
  const StepTotals* known = folded_.totals.steps.find(summary.step);
  if (known != nullptr && !reported_.contains(summary.step)) return false;  // all have reported: it is a duplicate
  std::set<std::int32_t>& reported = reported_[summary.step];
  if (!reported.insert(summary.rank).second) return false;
  if (static_cast<std::int32_t>(reported.size()) == ranks_of_run) reported_.erase(summary.step);
  rank.fold_late(folded_, summary);
  view_.reset();
  return true;
}

std::shared_ptr<const FoldedSteps> StepFolder::view() {
  if (!view_ && folded_.before > 0) {
    FoldedSteps shared{folded_.before, folded_.totals, {}};
    shared.totals.steps = folded_.totals.steps.share();
    for (std::size_t way = 0; way < obtained_count; ++way) shared.times[way] = folded_.times[way].share();
    view_ = std::make_shared<const FoldedSteps>(std::move(shared));
  }
  return view_;
}

}  // namespace

// The only writing thread and the threads that request views share `mutex`; readers of a view need no lock.
struct RunStore::State {
  State(std::int64_t its_keep_bytes, std::uint32_t keep_steps) : keep_bytes(its_keep_bytes), folder(keep_steps) {}

  mutable std::mutex mutex;
  std::int64_t keep_bytes;
  std::optional<SessionId> session;
  std::shared_ptr<const Hello> hello;
  std::pair<std::int32_t, std::uint64_t> hello_from;
  RanksData ranks;
  StepFolder folder;
  RankData* last = nullptr;  // spans of one rank arrive in runs
  std::int32_t last_rank = 0;
  std::vector<End> ends;
  std::array<SequenceSet, obtained_count> steps;
  std::uint64_t revision = 0;
  std::int64_t rows_since_eviction = 0;
  std::shared_ptr<const StoreView> view;

  bool is_ours(const SessionId& from) {
    if (!session) session = from;
    return *session == from;
  }

  RankData& rank(std::int32_t rank) {
    if (last && last_rank == rank) return *last;
    auto& data = ranks[rank];
    if (!data) data = std::make_unique<RankData>(rank);
    last = data.get();
    last_rank = rank;
    return *data;
  }

  std::int64_t held_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& [number, data] : ranks) bytes += data->bytes();
    return bytes;
  }

  void evict() {
    // Summing the ranks costs more than adding a row, so it is done once per some thousand rows.
    if (keep_bytes <= 0 || rows_since_eviction < 4096) return;
    rows_since_eviction = 0;
    std::int64_t held = held_bytes();
    while (held > keep_bytes) {
      const auto oldest = std::min_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
        return a.second->oldest_end_ns() < b.second->oldest_end_ns();
      });
      if (oldest == ranks.end() || oldest->second->oldest_end_ns() == INT64_MAX) return;
      held -= oldest->second->bytes();
      oldest->second->evict_oldest();
      held += oldest->second->bytes();
    }
  }

  bool take(const Hello& event, const Message& from) {
    // Several senders may send a hello; the lowest rank's first hello is used, in any order of arrival.
    const std::pair order{from.rank, from.sequence};
    if (hello && (hello_from < order || *hello == event)) return false;
    hello = std::make_shared<const Hello>(event);
    hello_from = order;
    return true;
  }
  bool take(const ProgramRecord& event, const Message& from) { return rank(event.rank).add(event, from.sequence); }
  bool take(const ClockRecord& event, const Message&) { return rank(event.rank).add(event); }
  bool take(const StepSummary& event, const Message&) {
    const std::int32_t ranks_of_run = hello ? hello->ranks : 0;
    if (folder.is_folded(event.step)) return folder.add_late(event, rank(event.rank), ranks_of_run);
    const bool changed = rank(event.rank).add(event);
    if (changed) folder.reached(event.step, ranks, ranks_of_run);
    return changed;
  }
  bool take(const Gap& event, const Message&) { return rank(event.rank).add(event); }
  bool take(const End& event, const Message&) {
    if (contains(ends, event)) return false;
    ends.push_back(event);
    std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.rank < b.rank; });
    return true;
  }
  /// Calls take(rows) for each sequence of rows of one rank and step; returns whether any changed something.
  template <class Row, class Take>
  bool in_stretches(const std::vector<Row>& rows, Take take) {
    bool changed = false;
    for (auto first = rows.begin(); first != rows.end();) {
      const auto end = std::find_if(first, rows.end(),
                                    [&](const Row& row) { return row.rank != first->rank || row.step != first->step; });
      changed |= take(std::span(first, end));
      first = end;
    }
    rows_since_eviction += std::ssize(rows);
    return changed;
  }
  bool take(const SpanBatch& event, const Message&) {
    return in_stretches(event.rows, [&](std::span<const Span> spans) {
      if (!rank(spans.front().rank).add(spans, event.obtained)) return false;
      steps[static_cast<std::size_t>(event.obtained)].insert(spans.front().step);
      return true;
    });
  }
  bool take(const MemoryBatch& event, const Message&) {
    for (const MemorySample& sample : event.rows) rank(sample.rank).add(sample, event.obtained);
    rows_since_eviction += static_cast<std::int64_t>(event.rows.size());
    return !event.rows.empty();
  }
  bool take(const PhaseBatch& event, const Message&) {
    return in_stretches(event.rows, [&](std::span<const PhaseSpan> phases) {
      return rank(phases.front().rank).add(phases, event.obtained);
    });
  }
};

RunStore::RunStore(std::int64_t keep_bytes, std::uint32_t keep_steps)
    : state_(std::make_unique<State>(keep_bytes, keep_steps)) {}
RunStore::~RunStore() = default;

void RunStore::accept(const Message& message) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.is_ours(message.session)) return;
  // A number proves that a message arrived; a gap reported by a relay has no number of the rank's own.
  const Gap* gap = std::get_if<Gap>(&message.event);
  bool changed = std::visit([&](const auto& event) { return state.take(event, message); }, message.event);
  if (message.sequence != 0 && !(gap && gap->first_sequence != 0)) {
    changed |= state.rank(message.rank).received(message.sequence);
  }
  state.evict();
  if (!changed) return;
  ++state.revision;
  state.view.reset();
}

void RunStore::accept_outline(const Envelope& from, Obtained obtained,
                              std::span<const EncodedMessage::StepExtent> steps, std::int64_t events) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.is_ours(from.session)) return;
  SequenceSet& present = state.steps[static_cast<std::size_t>(obtained)];
  for (const EncodedMessage::StepExtent& step : steps) {
    state.rank(step.rank).outline(step, obtained);
    present.insert(step.step);
  }
  RankData& sender = state.rank(from.rank);
  sender.count(events);
  if (from.sequence != 0) sender.received(from.sequence);
  ++state.revision;
  state.view.reset();
}

std::shared_ptr<const StoreView> RunStore::view() const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.view) {
    StoreContent content;
    content.hello = state.hello;
    make_views(state.ranks);
    for (const auto& [number, data] : state.ranks) content.ranks.emplace(number, data->view());
    content.ends = state.ends;
    content.folded = state.folder.view();
    content.steps = state.steps;
    content.revision = state.revision;
    state.view = make_view(std::move(content));
  }
  return state.view;
}

std::int64_t RunStore::detail_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->held_bytes();
}

}  // namespace rankscope
