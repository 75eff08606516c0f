#include "engine/explain/analyse/exchange.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "telemetry/event/waiting.hpp"

namespace rankscope {
namespace {

/// The chunk that holds an element.
int chunk_at(std::int64_t elements, int n, std::int64_t element) {
  int chunk = elements > 0 ? static_cast<int>(element * n / elements) : 0;
  while (chunk + 1 < n && chunk_range(elements, n, chunk).end <= element) ++chunk;
  return chunk;
}

void add_moves(GroupExchange& exchange, Algorithm algorithm, std::int64_t elements, std::int64_t width) {
  const int n = exchange.size();
  for (int chunk = 0; chunk < n; ++chunk)
    exchange.chunk_bytes.push_back(chunk_range(elements, n, chunk).size() * width);
  const bool rooted = has_root(exchange.kind);
  for (const Transfer& t : transfers_of(exchange.kind, algorithm, n, elements, rooted ? exchange.root : 0)) {
    ExchangeMove move{t.phase, t.from, t.to, t.chunk, t.chunk + 1, t.elements * width, t.add, 0, -1};
    if (exchange.kind != OpKind::all_to_all)
      move.last_chunk = chunk_at(elements, n, t.from_offset + t.elements - 1) + 1;
    exchange.moves.push_back(move);
    exchange.phases = std::max(exchange.phases, t.phase + 1);
  }
}

void add_times(GroupExchange& exchange, const std::vector<PhaseSpan>& phases) {
  std::map<std::tuple<int, int, int, int>, const PhaseSpan*> recorded;
  for (const PhaseSpan& phase : phases) recorded[{phase.phase, phase.from, phase.to, phase.chunk}] = &phase;
  exchange.timed = !exchange.moves.empty();
  for (ExchangeMove& move : exchange.moves) {
    const int from = exchange.ranks[move.from];
    const int to = exchange.ranks[move.to];
    const auto found = recorded.find({move.phase, from, to, move.first_chunk});
    if (found == recorded.end()) {
      exchange.timed = false;
      continue;
    }
    move.begin_ns = found->second->begin_ns;
    move.end_ns = found->second->end_ns;
  }
}

/// Transfers of a transparent collective are not among them: they are moves.
std::vector<PhaseSpan> inside_of(std::vector<PhaseSpan> phases) {
  std::erase_if(phases, [](const PhaseSpan& phase) { return phase.is_given(); });
  std::sort(phases.begin(), phases.end(), [](const PhaseSpan& a, const PhaseSpan& b) {
    return std::tie(a.rank, a.phase, a.chunk, a.begin_ns) < std::tie(b.rank, b.phase, b.chunk, b.begin_ns);
  });
  phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
  return phases;
}

std::optional<Span> span_of(const std::vector<Span>& spans, int rank, std::uint32_t step, OpId op) {
  for (const Span& span : spans)
    if (span.rank == rank && span.op == op && span.step == step) return span;
  return std::nullopt;
}

void set_waiting_of(GroupExchange& exchange) {
  std::vector<Span*> members;
  for (std::optional<Span>& span : exchange.spans)
    if (span) members.push_back(&*span);
  if (static_cast<int>(members.size()) == exchange.size()) set_waiting(members);
}

}  // namespace

bool GroupExchange::sums() const { return is_sum(kind); }

std::optional<GroupExchange> exchange_of(const Step& linked, std::optional<Algorithm> algorithm,
                                         const std::vector<Span>& spans, const std::vector<PhaseSpan>& phases, int rank,
                                         std::uint32_t step, OpId op) {
  const Node node = linked.find(rank, op);
  const ExchangeIndex index = node == nobody ? nobody : linked.exchange[node];
  if (index == nobody || linked.members[index].size() < 2) return std::nullopt;
  const std::span<const Node> members = linked.members[index];
  const ExchangeFacts& facts = linked.exchanges[index];
  GroupExchange exchange;
  exchange.step = step;
  exchange.op = linked.ids[members.front()];
  exchange.kind = exchange.op.kind();
  exchange.bytes = facts.bytes;
  for (const Node member : members) {
    exchange.ranks.push_back(static_cast<int>(linked.rank_of(member)));
    exchange.spans.push_back(span_of(spans, exchange.ranks.back(), step, linked.ids[member]));
  }
  set_waiting_of(exchange);
  if (!is_collective(exchange.kind)) {
    if (exchange.op.fields().purpose == Purpose::server) exchange.serves = linked.serves[linked.rank_of(members[0])];
    exchange.chunk_bytes = {exchange.bytes};
    exchange.phases = 1;
    ExchangeMove move{0, 0, 1, 0, 1, exchange.bytes, false, 0, -1};
    if (const auto& got = exchange.spans[1]) {
      move.begin_ns = got->active_ns;
      move.end_ns = got->end_ns;
    }
    exchange.timed = move.timed();
    exchange.moves = {move};
    exchange.inside = inside_of(phases);
    return exchange;
  }
  const auto root = std::ranges::find(exchange.ranks, facts.root);
  if (root != exchange.ranks.end()) exchange.root = static_cast<int>(root - exchange.ranks.begin());
  exchange.algorithm = algorithm;
  exchange.opaque = !algorithm;
  if (!algorithm) {
    exchange.inside = inside_of(phases);
    return exchange;
  }
  add_moves(exchange, *algorithm, exchange.bytes / facts.width, facts.width);
  add_times(exchange, phases);
  return exchange;
}

Holdings::Holdings(const GroupExchange& exchange)
    : chunks_(static_cast<int>(exchange.chunk_bytes.size())), two_buffers_(exchange.kind == OpKind::all_to_all) {
  const int n = exchange.size();
  count_.assign(static_cast<std::size_t>(n * chunks_), 0);
  if (exchange.sums()) whole_ = n;
  for (int member = 0; member < n; ++member)
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      const bool own = chunk == member;
      bool has = false;
      switch (exchange.kind) {
        case OpKind::all_reduce:
        case OpKind::reduce:
        case OpKind::reduce_scatter: has = true; break;
        case OpKind::broadcast:
        case OpKind::scatter: has = member == exchange.root; break;
        case OpKind::gather:
        case OpKind::all_gather:
        case OpKind::all_to_all: has = own; break;
        default: has = member == 0; break;  // a message
      }
      count(member, chunk) = has ? 1 : 0;
    }
}

void Holdings::apply(const ExchangeMove& move) {
  if (two_buffers_) {
    count(move.to, move.from) = 1;
    return;
  }
  for (int chunk = move.first_chunk; chunk < std::min(move.last_chunk, chunks_); ++chunk)
    count(move.to, chunk) = at(move.from, chunk) + (move.add ? at(move.to, chunk) : 0);
}

}  // namespace rankscope
