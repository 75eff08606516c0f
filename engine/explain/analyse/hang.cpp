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

/// One rank's program by lanes, and the progress of each.
struct RankPlace {
  const RankProgram* program = nullptr;
  std::array<std::vector<OpIndex>, lane_count> lanes;
  std::vector<std::int32_t> at;  ///< [op]: its place in its lane
  std::unordered_map<OpId, OpIndex> by_id;
  /// [lane]: the last op that ended, as step · ops of the lane + place in it, counted from first_step; -1: none.
  std::array<std::int64_t, lane_count> done{};
  std::array<const Span*, lane_count> last{};
  std::map<std::pair<std::uint32_t, OpIndex>, std::int64_t> ended_ns;

  std::int64_t position(OpIndex op, std::int64_t steps_on) const {
    const auto lane = static_cast<std::size_t>(program->ops[op].lane());
    return steps_on * static_cast<std::int64_t>(lanes[lane].size()) + at[op];
  }
  bool has_ended(OpIndex op, std::int64_t steps_on) const {
    return steps_on < 0 || done[static_cast<std::size_t>(program->ops[op].lane())] >= position(op, steps_on);
  }
};

std::vector<RankPlace> places_of(const std::vector<RankProgram>& programs, const std::vector<Span>& spans,
                                 std::uint32_t first_step) {
  std::vector<RankPlace> ranks(programs.size());
  for (std::size_t r = 0; r < programs.size(); ++r) {
    RankPlace& rank = ranks[r];
    rank.program = &programs[r];
    rank.lanes = programs[r].lanes();
    rank.at.assign(programs[r].ops.size(), 0);
    rank.done.fill(-1);
    for (const auto& lane : rank.lanes)
      for (std::size_t i = 0; i < lane.size(); ++i) rank.at[lane[i]] = static_cast<std::int32_t>(i);
    for (OpIndex op = 0; op < programs[r].ops.size(); ++op) rank.by_id.emplace(programs[r].ops[op].id, op);
  }
  for (const Span& span : spans) {
    if (span.rank < 0 || span.rank >= static_cast<std::int32_t>(ranks.size()) || span.step < first_step) continue;
    RankPlace& rank = ranks[span.rank];
    const auto found = rank.by_id.find(span.op);
    if (found == rank.by_id.end()) continue;
    const auto lane = static_cast<std::size_t>(span.op.lane());
    const std::int64_t position = rank.position(found->second, std::int64_t{span.step} - first_step);
    rank.ended_ns[{span.step, found->second}] = span.end_ns;
    if (position > rank.done[lane]) {
      rank.done[lane] = position;
      rank.last[lane] = &span;
    }
  }
  return ranks;
}

LanePlace place_of(const RankPlace& rank, Lane lane, std::uint32_t first_step, std::int64_t steps) {
  const auto index = static_cast<std::size_t>(lane);
  const std::vector<OpIndex>& ops = rank.lanes[index];
  LanePlace place;
  place.rank = rank.program->rank;
  place.lane = lane;
  if (const Span* last = rank.last[index]) {
    place.left = last->op;
    place.left_step = last->step;
    place.left_ns = last->end_ns;
  }
  if (rank.program->arrivals_ahead && lane == Lane::server) {
    place.in_order = false;
    return place;
  }
  const std::int64_t next = rank.done[index] + 1;
  const std::int64_t steps_on = next / static_cast<std::int64_t>(ops.size());
  if (steps_on + first_step >= steps) return place;
  const OpIndex op_index = ops[next % static_cast<std::int64_t>(ops.size())];
  const Op& op = rank.program->ops[op_index];
  place.next = op.id;
  place.next_step = first_step + static_cast<std::uint32_t>(steps_on);
  place.entered = true;
  place.entered_ns = place.left_ns;
  const auto needs = [&](OpIndex before, std::int64_t of_steps_on) {
    if (!rank.has_ended(before, of_steps_on)) {
      if (place.entered) place.waits_for = rank.program->ops[before].id;
      place.entered = false;
      return;
    }
    const auto ended =
        rank.ended_ns.find({first_step + static_cast<std::uint32_t>(std::max<std::int64_t>(of_steps_on, 0)), before});
    if (of_steps_on >= 0 && ended != rank.ended_ns.end()) place.entered_ns = std::max(place.entered_ns, ended->second);
  };
  for (const OpIndex before : op.after) needs(before, steps_on);
  for (const OpIndex before : op.after_previous) needs(before, steps_on - 1);
  return place;
}

struct Group {
  OpId op;  ///< the sender's of a message
  GroupKind kind = GroupKind::self;
  std::vector<int> members;
};
Group group_of(const Op& op, int rank, const RankGrid& grid) {
  if (is_collective(op.id.kind())) return {op.id, op.group, grid.group_of(rank, op.group)};
  if (op.id.kind() == OpKind::send) return {op.id, GroupKind::self, {rank, op.peer}};
  return {counterpart(op.id), GroupKind::self, {op.peer, rank}};
}

/// How far each asynchronous server lets its workers proceed, by the contributions that have arrived.
std::vector<StalenessWait> bounds_of(const std::vector<RankPlace>& ranks, std::uint32_t first_step) {
  std::vector<StalenessWait> bounds;
  for (const RankPlace& server : ranks) {
    if (!server.program->arrivals_ahead) continue;
    // Complete steps of each worker: those of its least advanced op.
    std::map<int, std::map<OpIndex, std::int64_t>> steps_of;
    for (OpIndex op = 0; op < server.program->ops.size(); ++op)
      if (server.program->ops[op].id.kind() == OpKind::receive)
        steps_of[server.program->ops[op].peer].emplace(op, std::int64_t{first_step} - 1);
    for (const auto& [key, ended] : server.ended_ns) {
      const Op& op = server.program->ops[key.second];
      if (op.id.kind() != OpKind::receive) continue;
      std::int64_t& latest = steps_of[op.peer][key.second];
      latest = std::max<std::int64_t>(latest, key.first);
    }
    StalenessWait bound;
    bound.server = server.program->rank;
    std::int64_t oldest = INT64_MAX;
    for (const auto& [worker, ops] : steps_of)
      for (const auto& [op, step] : ops) oldest = std::min(oldest, step + 1);
    if (oldest == INT64_MAX) continue;
    bound.oldest = static_cast<std::uint32_t>(oldest);
    bound.last = bound.oldest + static_cast<std::uint32_t>(*server.program->arrivals_ahead);
    for (const auto& [worker, ops] : steps_of)
      if (std::any_of(ops.begin(), ops.end(), [&](const auto& op) { return op.second + 1 == oldest; }))
        bound.workers.push_back(worker);
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

MemberState state_of_member(const std::vector<RankPlace>& ranks, const Standstill& still, const Group& group,
                            std::size_t member, std::uint32_t step, std::uint32_t first_step) {
  const int rank = group.members[member];
  if (rank < 0 || rank >= static_cast<int>(ranks.size())) return MemberState::not_arrived;
  const bool receiver = group.op.kind() == OpKind::send && member == 1;
  const OpId id = receiver ? counterpart(group.op) : group.op;
  const RankPlace& place = ranks[rank];
  const auto found = place.by_id.find(id);
  if (found == place.by_id.end()) return MemberState::not_arrived;
  if (place.has_ended(found->second, std::int64_t{step} - first_step)) return MemberState::finished;
  const LanePlace* lane = still.find(rank, id.lane());
  if (lane == nullptr) return MemberState::not_arrived;
  // A server that serves any worker is not in one particular receive: it is ready for all of them.
  // But it receives nothing from a worker that is ahead by the bound of staleness.
  if (!lane->in_order) {
    const StalenessWait* bound = still.staleness_wait_of(rank);
    return receiver && bound != nullptr && step > bound->last ? MemberState::not_arrived : MemberState::arrived;
  }
  return lane->entered && lane->next == id && lane->next_step == step ? MemberState::arrived : MemberState::not_arrived;
}

void find_pending(Standstill& still, const std::vector<RankPlace>& ranks, const RankGrid& grid,
                  std::uint32_t first_step) {
  std::map<std::tuple<OpId, std::uint32_t, int>, PendingCommunication> found;
  for (const LanePlace& lane : still.lanes) {
    if (!lane.entered || !is_communication(lane.next.kind())) continue;
    const RankPlace& rank = ranks[lane.rank];
    const Group group = group_of(rank.program->ops[rank.by_id.at(lane.next)], lane.rank, grid);
    const auto [at, fresh] = found.try_emplace({group.op, lane.next_step, group.members.front()});
    PendingCommunication& communication = at->second;
    if (!fresh) {
      communication.since_ns = std::min(communication.since_ns, lane.entered_ns);
      continue;
    }
    communication = {group.op, lane.next_step, group.kind, group.members, {}, lane.entered_ns};
    for (std::size_t m = 0; m < group.members.size(); ++m)
      communication.states.push_back(state_of_member(ranks, still, group, m, lane.next_step, first_step));
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

Standstill where_ranks_are(const std::vector<RankProgram>& programs, const RankGrid& grid,
                           const std::vector<Span>& spans, std::uint32_t first_step, std::int64_t steps,
                           const std::vector<End>& ends) {
  Standstill still;
  const std::vector<RankPlace> ranks = places_of(programs, spans, first_step);
  for (const RankPlace& rank : ranks)
    for (int lane = 0; lane < lane_count; ++lane)
      if (!rank.lanes[static_cast<std::size_t>(lane)].empty())
        still.lanes.push_back(place_of(rank, static_cast<Lane>(lane), first_step, steps));
  for (const Span& span : spans) still.last_event_ns = std::max(still.last_event_ns, span.end_ns);
  still.staleness_waits = bounds_of(ranks, first_step);
  find_pending(still, ranks, grid, first_step);
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
