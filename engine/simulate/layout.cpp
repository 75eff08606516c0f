#include "engine/simulate/layout.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace rankscope::simulation {

Layout::Layout(const Graph& graph) : graph_(graph) { frontier_.lane_free.assign(graph.lanes.size(), 0); }

std::int64_t Layout::lay_out(std::uint32_t step, const Rows& lanes, const StepCosts& costs, std::vector<Span>& spans) {
  assert(lanes.size() == graph_.lanes.size() && lanes.items.size() == graph_.nodes());
  assert(costs.op.size() == graph_.nodes() && costs.transfer.size() == graph_.members.size());
  lanes_ = &lanes;
  costs_ = &costs;
  states_.assign(lanes.size(), {});
  meetings_.assign(graph_.members.size(), {});
  begin_.resize(graph_.nodes());
  active_.resize(graph_.nodes());
  end_.assign(graph_.nodes(), -1);
  waiters_.assign(graph_.nodes(), nobody);
  for (LaneNumber lane = 0; lane < lanes.size(); ++lane) states_[lane].ready = frontier_.lane_free[lane];

  for (LaneNumber start = 0; start < lanes.size(); ++start) {
    work_.push_back(start);
    while (!work_.empty()) {
      const LaneNumber lane = work_.back();
      work_.pop_back();
      advance(lane);
    }
  }
  for (LaneNumber lane = 0; lane < lanes.size(); ++lane)
    if (states_[lane].next < lanes[lane].size()) report_deadlock(step);

  std::int64_t last = 0;
  for (LaneNumber lane = 0; lane < lanes.size(); ++lane) {
    frontier_.lane_free[lane] = states_[lane].ready;
    last = std::max(last, states_[lane].ready);
  }
  write(step, spans);
  frontier_.end.swap(end_);
  return last;
}

void Layout::advance(LaneNumber number) {
  LaneState& lane = states_[number];
  const auto ops = (*lanes_)[number];
  while (lane.next < ops.size() && !lane.arrived) {
    const Node node = ops[lane.next];
    const auto after = graph_.after[node];
    for (; lane.dependency < after.size(); ++lane.dependency) {
      const Node before = after[lane.dependency];
      if (end_[before] < 0) {
        lane.waiter = waiters_[before];
        waiters_[before] = number;
        return;
      }
      lane.ready = std::max(lane.ready, end_[before]);
    }
    if (!frontier_.end.empty())
      for (const Node before : graph_.after_previous[node]) lane.ready = std::max(lane.ready, frontier_.end[before]);
    begin_[node] = lane.ready;
    const Meeting meeting = graph_.meeting[node];
    if (meeting == nobody) {
      finish(number, node, lane.ready, lane.ready + costs_->op[node]);
      continue;
    }
    MeetingState& state = meetings_[meeting];
    const auto members = graph_.members[meeting];
    state.latest = std::max(state.latest, lane.ready);
    lane.arrived = true;
    if (++state.arrived < members.size()) return;
    const std::int64_t end = state.latest + costs_->transfer[meeting];
    for (const Node member : members) {
      const LaneNumber theirs = graph_.lane[member];
      finish(theirs, member, state.latest, end);
      if (theirs != number) work_.push_back(theirs);
    }
  }
}

void Layout::finish(LaneNumber number, Node node, std::int64_t active, std::int64_t end) {
  active_[node] = active;
  end_[node] = end;
  LaneState& lane = states_[number];
  lane.ready = end;
  lane.dependency = 0;
  lane.arrived = false;
  ++lane.next;
  for (LaneNumber waiter = waiters_[node]; waiter != nobody; waiter = states_[waiter].waiter) work_.push_back(waiter);
}

// Each lane's ops begin in order, so a rank's spans are a merge of its lanes.
void Layout::write(std::uint32_t step, std::vector<Span>& spans) const {
  const std::size_t first_span = spans.size();
  spans.resize(first_span + graph_.nodes());
  Span* out = spans.data() + first_span;
  struct Head {
    std::int64_t begin;
    const Node* at;
    const Node* end;
  };
  for (std::size_t rank = 0; rank < graph_.ranks(); ++rank) {
    const auto& ops = (*graph_.programs)[rank].ops;
    const Node base = graph_.first[rank];
    Head heads[lane_count];
    std::size_t open = 0;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      const auto row = (*lanes_)[rank * lane_count + lane];
      if (!row.empty()) heads[open++] = {begin_[row.front()], row.data(), row.data() + row.size()};
    }
    while (open > 0) {
      std::size_t least = 0;
      for (std::size_t h = 1; h < open; ++h)
        if (heads[h].begin < heads[least].begin) least = h;
      Head& head = heads[least];
      const Node node = *head.at;
      *out++ = {
          static_cast<std::int32_t>(rank), step, ops[node - base].id, begin_[node], active_[node], end_[node], -1};
      if (++head.at == head.end)
        std::move(&head + 1, heads + open--, &head);
      else
        head.begin = begin_[*head.at];
    }
  }
}

// Follows who waits for whom from a stuck lane until a lane comes again: that is the cycle. Each lane waits for one
// other lane at a time, so a chain that does not end must close.
void Layout::report_deadlock(std::uint32_t step) const {
  const auto standing = [&](LaneNumber lane) { return (*lanes_)[lane][states_[lane].next]; };
  const auto stuck = [&](LaneNumber lane) { return states_[lane].next < (*lanes_)[lane].size(); };
  const auto waits_for = [&](LaneNumber lane) {
    const Node node = standing(lane);
    if (!states_[lane].arrived) return graph_.after[node][states_[lane].dependency];
    for (const Node member : graph_.members[graph_.meeting[node]]) {
      const LaneNumber theirs = graph_.lane[member];
      if (!(states_[theirs].arrived && standing(theirs) == member)) return member;
    }
    return node;
  };
  LaneNumber lane = 0;
  while (!stuck(lane)) ++lane;
  std::vector<LaneNumber> chain;
  while (std::find(chain.begin(), chain.end(), lane) == chain.end()) {
    chain.push_back(lane);
    lane = graph_.lane[waits_for(lane)];
    if (!stuck(lane)) break;  // an op that its lane never runs again: the executed order lacks it
  }
  const auto cycle = std::find(chain.begin(), chain.end(), lane);
  if (cycle != chain.end()) chain.erase(chain.begin(), cycle);

  std::string text = "deadlock in step " + std::to_string(step) + ": ";
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Node other = waits_for(chain[i]);
    text += (i ? "; " : "") + graph_.place(chain[i]) + " at " + to_token(graph_.op(standing(chain[i])).id) +
            " waits for " + graph_.place(graph_.lane[other]) + " to " +
            (states_[chain[i]].arrived ? "come to " : "finish ") + to_token(graph_.op(other).id);
  }
  throw std::runtime_error(text);
}

}  // namespace rankscope::simulation
