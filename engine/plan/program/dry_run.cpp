#include "engine/plan/program/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/op/words.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/wait_chain.hpp"

namespace rankscope {
namespace {

constexpr int steps = 2;

struct LaneState {
  std::vector<OpIndex> ops;
  std::size_t next = 0;  ///< counts through all steps
  bool finished() const { return next == ops.size() * steps; }
};

class DryRun {
 public:
  DryRun(const std::vector<RankProgram>& programs, const RankGrid& grid) : programs_(programs), grid_(grid) {
    for (const RankProgram& program : programs) {
      auto& lanes = ranks_.emplace_back();
      const auto ops = program.lanes();
      for (std::size_t l = 0; l < lane_count; ++l) lanes[l].ops = ops[l];
      auto& position = position_.emplace_back(program.ops.size());
      for (const LaneState& lane : lanes)
        for (std::size_t i = 0; i < lane.ops.size(); ++i) position[lane.ops[i]] = i;
    }
  }

  std::optional<std::string> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        for (std::size_t lane = 0; lane < lane_count; ++lane)
          while (try_advance(rank, lane)) moved = true;
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        if (!ranks_[rank][lane].finished()) return describe(rank, lane);
    return std::nullopt;
  }

 private:
  const Op* current(std::size_t rank, std::size_t lane) const {
    const LaneState& state = ranks_[rank][lane];
    return state.finished() ? nullptr : &programs_[rank].ops[state.ops[state.next % state.ops.size()]];
  }

  bool reached(std::size_t rank, OpIndex op, std::size_t step) const {
    const LaneState& state = ranks_[rank][static_cast<std::size_t>(programs_[rank].ops[op].lane())];
    return state.next > position_[rank][op] + step * state.ops.size();
  }

  /// The dependency of the lane's current op that is not yet complete, if any.
  const Op* open_dependency(std::size_t rank, std::size_t lane) const {
    const LaneState& state = ranks_[rank][lane];
    const std::size_t step = state.next / state.ops.size();
    const Op& op = *current(rank, lane);
    for (const OpIndex before : op.after)
      if (!reached(rank, before, step)) return &programs_[rank].ops[before];
    if (step > 0)
      for (const OpIndex before : op.after_previous)
        if (!reached(rank, before, step - 1)) return &programs_[rank].ops[before];
    return nullptr;
  }

  bool is_at(std::size_t rank, OpId id, std::size_t step) const {
    const auto lane = static_cast<std::size_t>(id.lane());
    const Op* op = current(rank, lane);
    return op && op->id == id && ranks_[rank][lane].next / ranks_[rank][lane].ops.size() == step &&
           !open_dependency(rank, lane);
  }

  /// The other ranks that take part in the op, each with the op's id there.
  std::vector<std::pair<std::size_t, OpId>> partners(std::size_t rank, const Op& op) const {
    std::vector<std::pair<std::size_t, OpId>> partners;
    if (op.peer >= 0) {
      partners.emplace_back(static_cast<std::size_t>(op.peer), counterpart(op.id));
    } else if (is_collective(op.id.kind())) {
      for (const int member : grid_.group_of(static_cast<int>(rank), op.group))
        if (member != static_cast<int>(rank)) partners.emplace_back(static_cast<std::size_t>(member), op.id);
    }
    return partners;
  }

  bool try_advance(std::size_t rank, std::size_t lane) {
    const Op* op = current(rank, lane);
    if (!op || open_dependency(rank, lane)) return false;
    const std::size_t step = ranks_[rank][lane].next / ranks_[rank][lane].ops.size();
    const auto others = partners(rank, *op);
    for (const auto& [other, id] : others)
      if (other >= ranks_.size() || !is_at(other, id, step)) return false;
    for (const auto& [other, id] : others) ++ranks_[other][static_cast<std::size_t>(id.lane())].next;
    ++ranks_[rank][lane].next;
    return true;
  }

  /// A blocked lane: its op, and the rank and lane it waits for.
  struct Hop {
    std::size_t rank, lane;
    const Op* at;
    std::size_t next_rank, next_lane;
    std::string missing;  ///< why there is no lane to wait for; empty if there is one
  };

  Hop hop_from(std::size_t rank, std::size_t lane) const {
    Hop hop{rank, lane, current(rank, lane), rank, lane, {}};
    if (!hop.at) {
      hop.missing = "which has no further op";
    } else if (const Op* open = open_dependency(rank, lane)) {
      hop.next_lane = static_cast<std::size_t>(open->lane());
    } else {
      hop.missing = "which waits for nobody";
      const std::size_t step = ranks_[rank][lane].next / ranks_[rank][lane].ops.size();
      for (const auto& [other, id] : partners(rank, *hop.at)) {
        if (other < ranks_.size() && is_at(other, id, step)) continue;
        hop.next_rank = other;
        hop.next_lane = static_cast<std::size_t>(id.lane());
        hop.missing = other < ranks_.size() ? "" : "which does not exist";
        break;
      }
    }
    return hop;
  }

  // Follows the waits from one blocked lane, and names the places where one rank waits for another.
  std::string describe(std::size_t rank, std::size_t lane) const {
    using Place = std::pair<std::size_t, std::size_t>;
    const auto next = [&](const Place& at) -> std::optional<Place> {
      const Hop hop = hop_from(at.first, at.second);
      return hop.missing.empty() ? std::optional(Place(hop.next_rank, hop.next_lane)) : std::nullopt;
    };
    std::vector<Hop> hops;
    for (const auto& [its_rank, its_lane] : wait_chain(Place(rank, lane), next))
      hops.push_back(hop_from(its_rank, its_lane));
    const std::string missing = hops.back().missing;
    std::erase_if(hops, [](const Hop& h) { return h.rank == h.next_rank && h.missing.empty(); });
    std::string text = "deadlock: ";
    const std::size_t shown_hops = std::min<std::size_t>(hops.size(), 2);
    for (std::size_t i = 0; i < shown_hops; ++i) {
      const Hop& h = hops[i];
      text += fmt::format("{}rank {}", i > 0 ? ", " : "", h.rank);
      if (!h.missing.empty()) return text + ", " + h.missing;
      text += fmt::format(" ({}) at {} waits for rank {}", name_of(static_cast<Lane>(h.lane)), to_token(h.at->id),
                          h.next_rank);
    }
    if (!missing.empty()) return text + ", " + missing;
    return hops.size() > shown_hops ? fmt::format("{}, and so on round {}", text, counted(hops.size(), "rank")) : text;
  }

  const std::vector<RankProgram>& programs_;
  RankGrid grid_;
  std::vector<std::array<LaneState, lane_count>> ranks_;
  std::vector<std::vector<std::size_t>> position_;  ///< [rank][op]: its place in its lane
};

}  // namespace

std::optional<std::string> find_deadlock(const std::vector<RankProgram>& programs, const RankGrid& grid) {
  if (auto misuse = find_misuse(programs, grid)) return misuse;
  return DryRun(programs, grid).run();
}

}  // namespace rankscope
