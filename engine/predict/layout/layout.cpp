#include "engine/predict/layout/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <tuple>

#include "engine/plan/program/wait_chain.hpp"

namespace rankscope::simulation {

Layout::Layout(const Graph& graph)
    : graph_(graph), states_(graph.lanes.size()), server_of_lane_(graph.lanes.size(), nobody) {
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    const std::optional<int>& ahead = (*graph.programs)[rank].arrivals_ahead;
    if (!ahead) continue;
    const auto lane = static_cast<LaneNumber>(rank * lane_count + static_cast<std::size_t>(Lane::server));
    int workers = 0;
    for (const Node node : graph.lanes[lane]) workers = std::max(workers, graph.op(node).id.fields().micro_batch + 1);
    server_of_lane_[lane] = static_cast<std::uint32_t>(servers_.size());
    servers_.push_back(
        {lane, static_cast<std::uint32_t>(*ahead), std::vector<std::uint32_t>(static_cast<std::size_t>(workers)), 0});
  }
}

void Layout::add(std::uint32_t number, Rows lanes, StepCosts costs, std::vector<std::vector<std::uint64_t>> arrivals) {
  assert(lanes.size() == graph_.lanes.size() && lanes.items.size() == graph_.nodes());
  assert(costs.op.size() == graph_.nodes() && costs.transfer.size() == graph_.members.size());
  is_order_brought_ = !arrivals.empty();
  Step& step = open_.emplace_back();
  step.number = number;
  step.lanes = std::move(lanes);
  step.costs = std::move(costs);
  step.exchanges.resize(graph_.members.size());
  step.begin.resize(graph_.nodes());
  step.active.resize(graph_.nodes());
  step.end.assign(graph_.nodes(), -1);
  step.waiters.assign(graph_.nodes(), nobody);
  step.unfinished = graph_.nodes();
  for (const Server& server : servers_) {
    auto& of_workers = step.contributions.emplace_back(server.next_step.size());
    const auto row = step.lanes[server.lane];
    std::size_t rows = 0;
    for (std::uint32_t i = 0; i < row.size(); ++i) {
      const int worker = graph_.op(row[i]).id.fields().micro_batch;
      Contribution& contribution = of_workers[worker];
      if (i == 0 || worker != graph_.op(row[i - 1]).id.fields().micro_batch) {
        if (is_order_brought_) contribution.order = arrivals[server.lane / lane_count].at(rows);
        contribution.begin = i;
        ++rows;
      }
      contribution.end = i + 1;
    }
  }
}

std::int64_t Layout::run(std::vector<Span>& spans) {
  for (LaneNumber start = 0; start < states_.size(); ++start) {
    work_.push_back(start);
    drain();
  }
  while (serve_next()) drain();
  while (!open_.empty() && open_.front().unfinished == 0) {
    Step& whole = open_.front();
    for (const std::int64_t end : whole.end) last_end_ = std::max(last_end_, end);
    for (const Server& server : servers_) {
      Rows& lanes = whole.lanes;
      std::stable_sort(lanes.items.begin() + lanes.begin[server.lane],
                       lanes.items.begin() + lanes.begin[server.lane + 1],
                       [&](Node a, Node b) { return whole.begin[a] < whole.begin[b]; });
    }
    write(whole, spans);
    end_before_ = std::move(whole.end);
    open_.erase(open_.begin());
    ++first_open_;
  }
  if (!open_.empty() && !waits_for_order()) report_deadlock();
  return last_end_;
}

void Layout::drain() {
  while (!work_.empty()) {
    const LaneNumber lane = work_.back();
    work_.pop_back();
    advance(lane);
  }
}

bool Layout::begin_row(LaneNumber number) {
  LaneState& lane = states_[number];
  if (server_of_lane_[number] != nobody) return false;  // serve() starts its rows
  while (lane.next_row < added()) {
    lane.step = lane.next_row++;
    lane.next = 0;
    lane.last = static_cast<std::uint32_t>(step(lane.step).lanes[number].size());
    if (lane.last > 0) return true;
  }
  return false;
}

bool Layout::is_over(Step& of, Node before, LaneNumber number) {
  LaneState& lane = states_[number];
  if (of.end[before] < 0) {
    lane.waiter = of.waiters[before];
    lane.waits = true;
    of.waiters[before] = number;
    return false;
  }
  lane.ready = std::max(lane.ready, of.end[before]);
  return true;
}

bool Layout::arrives_last(LaneNumber number, Node node) {
  LaneState& lane = states_[number];
  const auto after = graph_.after[node], after_previous = graph_.after_previous[node];
  for (; lane.dependency < after.size(); ++lane.dependency)
    if (!is_over(step(lane.step), after[lane.dependency], number)) return false;
  if (lane.step > first_open_) {
    for (; lane.dependency < after.size() + after_previous.size(); ++lane.dependency)
      if (!is_over(step(lane.step - 1), after_previous[lane.dependency - after.size()], number)) return false;
  } else if (!end_before_.empty()) {
    for (const Node before : after_previous) lane.ready = std::max(lane.ready, end_before_[before]);
  }
  return true;
}

void Layout::advance(LaneNumber number) {
  LaneState& lane = states_[number];
  while (!lane.arrived && !lane.waits && (lane.next < lane.last || begin_row(number))) {
    Step& now = step(lane.step);
    const Node node = now.lanes[number][lane.next];
    if (!arrives_last(number, node)) return;
    now.begin[node] = lane.ready;
    const ExchangeIndex exchange = graph_.exchange[node];
    if (exchange == nobody) {
      finish(number, node, lane.ready, lane.ready + now.costs.op[node]);
      continue;
    }
    ExchangeState& state = now.exchanges[exchange];
    const auto members = graph_.members[exchange];
    state.latest = std::max(state.latest, lane.ready);
    lane.arrived = true;
    if (++state.arrived < members.size()) return;
    const std::int64_t end = state.latest + now.costs.transfer[exchange];
    for (const Node member : members) {
      const LaneNumber theirs = graph_.lane[member];
      finish(theirs, member, state.latest, end);
      if (theirs != number) work_.push_back(theirs);
    }
  }
}

void Layout::finish(LaneNumber number, Node node, std::int64_t active, std::int64_t end) {
  LaneState& lane = states_[number];
  Step& now = step(lane.step);
  now.active[node] = active;
  now.end[node] = end;
  --now.unfinished;
  lane.ready = end;
  lane.dependency = 0;
  lane.arrived = false;
  ++lane.next;
  for (LaneNumber waiter = now.waiters[node]; waiter != nobody; waiter = states_[waiter].waiter) {
    states_[waiter].waits = false;
    work_.push_back(waiter);
  }
}

bool Layout::Choice::operator<(const Choice& other) const {
  return std::tie(begin, arrived, server, worker) < std::tie(other.begin, other.arrived, other.server, other.worker);
}

bool Layout::is_idle(const Server& server) const {
  const LaneState& lane = states_[server.lane];
  return lane.next == lane.last && !lane.arrived;
}

std::optional<std::size_t> Layout::brought_next(std::size_t server) const {
  const Server& of = servers_[server];
  for (std::size_t worker = 0; worker < of.next_step.size(); ++worker)
    if (of.next_step[worker] < added() && step(of.next_step[worker]).contributions[server][worker].order == of.served)
      return worker;
  return std::nullopt;
}

std::optional<Layout::Choice> Layout::first_arrival(std::size_t server) const {
  const Server& of = servers_[server];
  const std::uint32_t oldest = *std::min_element(of.next_step.begin(), of.next_step.end());
  std::optional<Choice> first;
  for (std::size_t worker = 0; worker < of.next_step.size(); ++worker) {
    const std::uint32_t at = of.next_step[worker];
    if (at == added() || at - oldest > of.ahead) continue;
    const Node receive = step(at).lanes[of.lane][step(at).contributions[server][worker].begin];
    const ExchangeState& exchange = step(at).exchanges[graph_.exchange[receive]];
    if (exchange.arrived == 0) continue;
    const Choice choice{server, worker, std::max(states_[of.lane].ready, exchange.latest), exchange.latest};
    if (!first || choice < *first) first = choice;
  }
  return first;
}

bool Layout::serve_next() {
  std::optional<Choice> first;
  bool served = false;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (!is_idle(servers_[server])) continue;
    if (is_order_brought_) {
      if (const auto worker = brought_next(server)) {
        serve(server, *worker);
        served = true;
      }
    } else if (const auto choice = first_arrival(server); choice && (!first || *choice < *first)) {
      first = choice;
    }
  }
  if (first) serve(first->server, first->worker);
  return served || first;
}

void Layout::serve(std::size_t server, std::size_t worker) {
  Server& of = servers_[server];
  const std::uint32_t at = of.next_step[worker]++;
  const Contribution& contribution = step(at).contributions[server][worker];
  LaneState& lane = states_[of.lane];
  lane.step = at;
  lane.next = contribution.begin;
  lane.last = contribution.end;
  ++of.served;
  work_.push_back(of.lane);
}

// A server that serves in order of arrival may next serve a contribution of a later step, within its bound of
// staleness, and that step may not yet have been added to the layout.
bool Layout::waits_for_order() const {
  if (!is_order_brought_) return false;
  return std::any_of(servers_.begin(), servers_.end(),
                     [&](const Server& server) { return is_idle(server) && open_.size() <= server.ahead; });
}

// Each lane's ops begin in order, so a rank's spans are a merge of its lanes.
void Layout::write(const Step& step, std::vector<Span>& spans) const {
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
      const auto row = step.lanes[rank * lane_count + lane];
      if (!row.empty()) heads[open++] = {step.begin[row.front()], row.data(), row.data() + row.size()};
    }
    while (open > 0) {
      std::size_t least = 0;
      for (std::size_t h = 1; h < open; ++h)
        if (heads[h].begin < heads[least].begin) least = h;
      Head& head = heads[least];
      const Node node = *head.at;
      *out++ = {static_cast<std::int32_t>(rank),
                step.number,
                ops[node - base].id,
                step.begin[node],
                step.active[node],
                step.end[node],
                -1};
      if (++head.at == head.end)
        std::move(&head + 1, heads + open--, &head);
      else
        head.begin = step.begin[*head.at];
    }
  }
}

bool Layout::is_stuck(LaneNumber number) const {
  if (states_[number].next < states_[number].last) return true;
  if (server_of_lane_[number] == nobody) return false;
  const auto& next = servers_[server_of_lane_[number]].next_step;
  return std::any_of(next.begin(), next.end(), [&](std::uint32_t step) { return step < added(); });
}

Node Layout::current_node(LaneNumber number) const {
  const LaneState& lane = states_[number];
  if (lane.next < lane.last) return step(lane.step).lanes[number][lane.next];
  // A server that waits for any worker waits for the slowest one.
  const std::uint32_t server = server_of_lane_[number];
  const auto& next = servers_[server].next_step;
  const auto oldest = std::min_element(next.begin(), next.end());
  const auto worker = static_cast<std::size_t>(oldest - next.begin());
  return step(*oldest).lanes[number][step(*oldest).contributions[server][worker].begin];
}

Node Layout::waits_for(LaneNumber number) const {
  const Node node = current_node(number);
  const LaneState& lane = states_[number];
  if (lane.waits) {
    const auto after = graph_.after[node];
    return lane.dependency < after.size() ? after[lane.dependency]
                                          : graph_.after_previous[node][lane.dependency - after.size()];
  }
  for (const Node member : graph_.members[graph_.exchange[node]]) {
    const LaneNumber theirs = graph_.lane[member];
    if (theirs != number && !(states_[theirs].arrived && current_node(theirs) == member)) return member;
  }
  return node;
}

// A chain ends at an op that its lane never runs: it is missing in the executed order.
void Layout::report_deadlock() const {
  LaneNumber lane = 0;
  while (!is_stuck(lane)) ++lane;
  const std::vector<LaneNumber> chain = wait_chain(lane, [&](LaneNumber at) -> std::optional<LaneNumber> {
    const LaneNumber next = graph_.lane[waits_for(at)];
    return is_stuck(next) ? std::optional(next) : std::nullopt;
  });
  std::string text = fmt::format("deadlock in step {}: ", open_.front().number);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Node other = waits_for(chain[i]);
    text += (i ? "; " : "") + graph_.place(chain[i]) + " at " + to_token(graph_.op(current_node(chain[i])).id) +
            " waits for " + graph_.place(graph_.lane[other]) + " to " +
            (states_[chain[i]].waits ? "finish " : "come to ") + to_token(graph_.op(other).id);
  }
  throw std::runtime_error(text);
}

}  // namespace rankscope::simulation
