#include "engine/explain/analyse/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

/// One rank's ops by lanes, and the progress of each.
struct RankPlace {
  int rank = 0;
  std::array<std::vector<Node>, lane_count> lanes;
  std::vector<std::int32_t> at;  ///< [node − first]: its place in its lane
  std::unordered_map<OpId, Node> by_id;
  /// [lane]: the last op that ended, as step · ops of the lane + place in it, counted from first_step; -1: none.
  std::array<std::int64_t, lane_count> done{};
  std::array<const Span*, lane_count> last{};
  std::map<std::pair<std::uint32_t, Node>, std::int64_t> ended_ns;
};

class Places {
 public:
  Places(const Step& linked, const std::vector<Span>& spans, std::uint32_t first_step)
      : linked_(linked), first_step_(first_step), ranks_(linked.ranks()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RankPlace& rank = ranks_[r];
      rank.rank = static_cast<int>(r);
      rank.done.fill(-1);
      for (Node node = linked.first[r]; node < linked.first[r + 1]; ++node) {
        auto& lane = rank.lanes[lane_of(node)];
        rank.at.push_back(static_cast<std::int32_t>(lane.size()));
        lane.push_back(node);
        rank.by_id.emplace(linked.ids[node], node);
      }
    }
    for (const Span& span : spans) add(span);
  }

  const Step& linked() const { return linked_; }
  std::uint32_t first_step() const { return first_step_; }
  const std::vector<RankPlace>& ranks() const { return ranks_; }
  std::size_t lane_of(Node node) const { return static_cast<std::size_t>(linked_.ids[node].lane()); }
  bool has_ended(std::size_t rank, Node node, std::int64_t steps_on) const {
    return steps_on < 0 || ranks_[rank].done[lane_of(node)] >= position(rank, node, steps_on);
  }

 private:
  std::int64_t position(std::size_t rank, Node node, std::int64_t steps_on) const {
    return steps_on * static_cast<std::int64_t>(ranks_[rank].lanes[lane_of(node)].size()) +
           ranks_[rank].at[node - linked_.first[rank]];
  }
  void add(const Span& span) {
    if (span.rank < 0 || static_cast<std::size_t>(span.rank) >= ranks_.size() || span.step < first_step_) return;
    const auto r = static_cast<std::size_t>(span.rank);
    RankPlace& rank = ranks_[r];
    const auto found = rank.by_id.find(span.op);
    if (found == rank.by_id.end()) return;
    const std::size_t lane = lane_of(found->second);
    const std::int64_t place = position(r, found->second, std::int64_t{span.step} - first_step_);
    rank.ended_ns[{span.step, found->second}] = span.end_ns;
    if (place > rank.done[lane]) {
      rank.done[lane] = place;
      rank.last[lane] = &span;
    }
  }

  const Step& linked_;
  std::uint32_t first_step_;
  std::vector<RankPlace> ranks_;
};

LanePlace place_of(const Places& places, const RankPlace& rank, Lane lane, std::int64_t steps) {
  const Step& linked = places.linked();
  const auto index = static_cast<std::size_t>(lane);
  const auto r = static_cast<std::size_t>(rank.rank);
  const std::vector<Node>& ops = rank.lanes[index];
  LanePlace place;
  place.rank = rank.rank;
  place.lane = lane;
  if (const Span* last = rank.last[index]) {
    place.left = last->op;
    place.left_step = last->step;
    place.left_ns = last->end_ns;
  }
  if (linked.arrivals_ahead[r] && lane == Lane::server) {
    place.in_order = false;
    return place;
  }
  const std::int64_t next = rank.done[index] + 1;
  const std::int64_t steps_on = next / static_cast<std::int64_t>(ops.size());
  if (steps_on + places.first_step() >= steps) return place;
  const Node node = ops[static_cast<std::size_t>(next) % ops.size()];
  place.next = linked.ids[node];
  place.next_step = places.first_step() + static_cast<std::uint32_t>(steps_on);
  place.entered = true;
  place.entered_ns = place.left_ns;
  const auto needs = [&](Node before, std::int64_t of_steps_on) {
    if (!places.has_ended(r, before, of_steps_on)) {
      if (place.entered) place.waits_for = linked.ids[before];
      place.entered = false;
      return;
    }
    const auto ended = rank.ended_ns.find(
        {places.first_step() + static_cast<std::uint32_t>(std::max<std::int64_t>(of_steps_on, 0)), before});
    if (of_steps_on >= 0 && ended != rank.ended_ns.end()) place.entered_ns = std::max(place.entered_ns, ended->second);
  };
  for (const Node before : linked.after[node]) needs(before, steps_on);
  for (const Node before : linked.after_previous[node]) needs(before, steps_on - 1);
  return place;
}

/// How far each asynchronous server lets its workers proceed, by the contributions that have arrived.
std::vector<StalenessWait> bounds_of(const Places& places) {
  const Step& linked = places.linked();
  std::vector<StalenessWait> bounds;
  for (const RankPlace& server : places.ranks()) {
    const auto rank = static_cast<std::size_t>(server.rank);
    if (!linked.arrivals_ahead[rank]) continue;
    const auto sender_of = [&](Node receive) {
      return static_cast<int>(linked.rank_of(linked.members[linked.exchange[receive]].front()));
    };
    const auto receives = [&](Node node) {
      return linked.ids[node].kind() == OpKind::receive && linked.exchange[node] != nobody;
    };
    // Complete steps of each worker: those of its least advanced op.
    std::map<int, std::map<Node, std::int64_t>> steps_of;
    for (Node node = linked.first[rank]; node < linked.first[rank + 1]; ++node)
      if (receives(node)) steps_of[sender_of(node)].emplace(node, std::int64_t{places.first_step()} - 1);
    for (const auto& [key, ended] : server.ended_ns) {
      if (!receives(key.second)) continue;
      std::int64_t& latest = steps_of[sender_of(key.second)][key.second];
      latest = std::max<std::int64_t>(latest, key.first);
    }
    StalenessWait bound;
    bound.server = server.rank;
    std::int64_t oldest = INT64_MAX;
    for (const auto& [worker, ops] : steps_of)
      for (const auto& [op, step] : ops) oldest = std::min(oldest, step + 1);
    if (oldest == INT64_MAX) continue;
    bound.oldest = static_cast<std::uint32_t>(oldest);
    bound.last = bound.oldest + static_cast<std::uint32_t>(*linked.arrivals_ahead[rank]);
    for (const auto& [worker, ops] : steps_of)
      if (std::any_of(ops.begin(), ops.end(), [&](const auto& op) { return op.second + 1 == oldest; }))
        bound.workers.push_back(worker);
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

MemberState state_of_member(const Places& places, const Standstill& still, Node member, std::uint32_t step) {
  const std::size_t rank = places.linked().rank_of(member);
  const OpId id = places.linked().ids[member];
  if (places.has_ended(rank, member, std::int64_t{step} - places.first_step())) return MemberState::finished;
  const LanePlace* lane = still.find(static_cast<int>(rank), id.lane());
  if (lane == nullptr) return MemberState::not_arrived;
  // A server that serves any worker is not in one particular receive: it is ready for all of them.
  // But it receives nothing from a worker that is ahead by the bound of staleness.
  if (!lane->in_order) {
    const StalenessWait* bound = still.staleness_wait_of(static_cast<int>(rank));
    return id.kind() == OpKind::receive && bound != nullptr && step > bound->last ? MemberState::not_arrived
                                                                                  : MemberState::arrived;
  }
  return lane->entered && lane->next == id && lane->next_step == step ? MemberState::arrived : MemberState::not_arrived;
}

void find_pending(Standstill& still, const Places& places) {
  const Step& linked = places.linked();
  std::map<std::tuple<OpId, std::uint32_t, ExchangeIndex>, PendingCommunication> found;
  for (const LanePlace& lane : still.lanes) {
    if (!lane.entered || !is_communication(lane.next.kind())) continue;
    const Node node = places.ranks()[static_cast<std::size_t>(lane.rank)].by_id.at(lane.next);
    const ExchangeIndex exchange = linked.exchange[node];
    if (exchange == nobody) continue;  // its programs disagree: who takes part is not known
    const std::span<const Node> members = linked.members[exchange];
    const OpId op = linked.ids[members.front()];
    const auto [at, fresh] = found.try_emplace({op, lane.next_step, exchange});
    PendingCommunication& communication = at->second;
    if (!fresh) {
      communication.since_ns = std::min(communication.since_ns, lane.entered_ns);
      continue;
    }
    communication = {op, lane.next_step, linked.exchanges[exchange].group, {}, {}, lane.entered_ns};
    for (const Node member : members) {
      communication.members.push_back(static_cast<int>(linked.rank_of(member)));
      communication.states.push_back(state_of_member(places, still, member, lane.next_step));
    }
  }
  for (auto& [key, communication] : found)
    if (communication.waits()) still.pending.push_back(std::move(communication));
  std::stable_sort(
      still.pending.begin(), still.pending.end(),
      [](const PendingCommunication& a, const PendingCommunication& b) { return a.since_ns < b.since_ns; });
}

/// Those that wait for a late rank first: the others follow from them.
void put_late_first(Standstill& still) {
  std::stable_partition(still.pending.begin(), still.pending.end(), [&](const PendingCommunication& communication) {
    const std::vector<int> away = communication.missing();
    return std::any_of(away.begin(), away.end(), [&](int rank) { return contains(still.late, rank); });
  });
}

bool at_own_work(const Standstill& still, int rank) {
  bool anything_left = false;
  for (const LanePlace& lane : still.lanes) {
    if (lane.rank != rank) continue;
    if (lane.entered && !is_communication(lane.next.kind())) return true;
    anything_left = anything_left || lane.next.valid() || !lane.in_order;
  }
  return !anything_left;  // a rank that has finished all steps will not arrive either
}

/// Keeps the servers whose bound a worker has reached.
void keep_held_back(Standstill& still) {
  std::erase_if(still.staleness_waits, [&](const StalenessWait& bound) {
    return std::none_of(still.pending.begin(), still.pending.end(), [&](const PendingCommunication& communication) {
      const std::vector<int> away = communication.missing();
      return contains(away, bound.server);
    });
  });
}

void find_late(Standstill& still, const std::vector<End>& ends) {
  std::map<int, std::set<int>> waits_for;
  std::set<int> missing;
  for (const StalenessWait& bound : still.staleness_waits) {
    missing.insert(bound.workers.begin(), bound.workers.end());
    waits_for[bound.server].insert(bound.workers.begin(), bound.workers.end());
  }
  for (const PendingCommunication& communication : still.pending) {
    const std::vector<int> away = communication.missing();
    missing.insert(away.begin(), away.end());
    for (std::size_t m = 0; m < communication.members.size(); ++m)
      if (communication.states[m] == MemberState::arrived)
        waits_for[communication.members[m]].insert(away.begin(), away.end());
  }
  std::set<int> failed;
  for (const End& end : ends)
    if (end.rank >= 0 && !end.ok && !end.in_communication) failed.insert(end.rank);
  if (!failed.empty()) {
    still.late.assign(failed.begin(), failed.end());
    return;
  }
  // A rank that neither works nor waits has not reported its op, such as a stopped process.
  for (const int rank : missing)
    if (at_own_work(still, rank) || waits_for.count(rank) == 0) still.late.push_back(rank);
  if (!still.late.empty() || missing.empty()) return;
  // All missing ranks wait for others: follow one of them until a rank repeats.
  std::vector<int> path{*missing.begin()};
  for (;;) {
    const auto& next = waits_for[path.back()];
    if (next.empty()) return;
    const auto again = std::find(path.begin(), path.end(), *next.begin());
    if (again != path.end()) {
      still.late.assign(again, path.end());
      std::sort(still.late.begin(), still.late.end());
      still.cycle = true;
      return;
    }
    path.push_back(*next.begin());
  }
}

/// The lane of a rank that reported last, unless the rank has finished all steps.
const LanePlace* last_reported(const Standstill& still, int rank) {
  const LanePlace* last = nullptr;
  bool more = false;
  for (const LanePlace& lane : still.lanes) {
    if (lane.rank != rank || !lane.left.valid()) continue;
    more = more || lane.next.valid();
    if (last == nullptr || lane.left_ns > last->left_ns) last = &lane;
  }
  return more ? last : nullptr;
}

std::string list_of(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + listed_up_to(12, ranks);
}

}  // namespace

bool PendingCommunication::waits() const { return contains(states, MemberState::not_arrived); }

std::vector<int> PendingCommunication::missing() const {
  std::vector<int> ranks;
  for (std::size_t m = 0; m < members.size(); ++m)
    if (states[m] == MemberState::not_arrived) ranks.push_back(members[m]);
  return ranks;
}

const LanePlace* Standstill::find(int rank, Lane lane) const {
  for (const LanePlace& place : lanes)
    if (place.rank == rank && place.lane == lane) return &place;
  return nullptr;
}

const StalenessWait* Standstill::staleness_wait_of(int server) const {
  for (const StalenessWait& bound : staleness_waits)
    if (bound.server == server) return &bound;
  return nullptr;
}

const LanePlace* Standstill::own_work(int rank) const {
  for (const LanePlace& place : lanes)
    if (place.rank == rank && place.entered && !is_communication(place.next.kind())) return &place;
  return nullptr;
}

Standstill where_ranks_are(const Step& linked, const std::vector<Span>& spans, std::uint32_t first_step,
                           std::int64_t steps, const std::vector<End>& ends) {
  Standstill still;
  const Places places(linked, spans, first_step);
  for (const RankPlace& rank : places.ranks())
    for (int lane = 0; lane < lane_count; ++lane)
      if (!rank.lanes[static_cast<std::size_t>(lane)].empty())
        still.lanes.push_back(place_of(places, rank, static_cast<Lane>(lane), steps));
  for (const Span& span : spans) still.last_event_ns = std::max(still.last_event_ns, span.end_ns);
  still.staleness_waits = bounds_of(places);
  find_pending(still, places);
  keep_held_back(still);
  find_late(still, ends);
  put_late_first(still);
  return still;
}

std::string sentence_of(const Standstill& still, const std::vector<End>& ends) {
  if (still.late.empty()) return {};
  std::set<int> waiting;
  for (const PendingCommunication& communication : still.pending)
    for (std::size_t m = 0; m < communication.members.size(); ++m)
      if (communication.states[m] == MemberState::arrived) waiting.insert(communication.members[m]);
  for (const int rank : still.late) waiting.erase(rank);
  const std::vector<int> others(waiting.begin(), waiting.end());
  std::string text = list_of(still.late);
  text[0] = 'R';
  if (still.cycle) return text + " wait for each other in a circle: their programs cannot continue.";
  text += still.late.size() == 1 ? " is missing" : " are missing";
  if (still.late.size() == 1) {
    const int rank = still.late.front();
    const auto end = std::find_if(ends.begin(), ends.end(), [&](const End& e) { return e.rank == rank; });
    if (end != ends.end() && !end->ok)
      text += ": " + (end->message.empty() ? "it ended" : end->message);
    else if (const LanePlace* work = still.own_work(rank))
      text += fmt::format(": it is in {} of step {}", to_token(work->next), work->next_step);
    else if (const LanePlace* last = last_reported(still, rank))
      text += fmt::format(": it has reported nothing since {} of step {}", to_token(last->left), last->left_step);
    else
      text += ": it has done all its steps";
  }
  if (!others.empty())
    text += ". " + list_of(others).replace(0, 1, "R") + (others.size() == 1 ? " waits for " : " wait for ") +
            (still.late.size() == 1 ? "it" : "them");
  return text + ".";
}

}  // namespace rankscope
