#include "engine/plan/program/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/op/words.hpp"
#include "engine/plan/program/communication.hpp"

namespace rankscope {
namespace {

/// Open addressing from op id to node: one rank's communication ops. Programs have up to a million of them, and a node
/// per entry on the heap would cost more than a whole layout.
class IdTable {
 public:
  explicit IdTable(std::size_t entries) : slots_(std::bit_ceil(2 * entries + 1)) {}
  /// False if the id already exists.
  bool insert(OpId id, Node node) {
    for (std::size_t at = home(id);; at = next(at)) {
      if (slots_[at].node == nobody) {
        slots_[at] = {id, node};
        return true;
      }
      if (slots_[at].id == id) return false;
    }
  }
  Node find(OpId id) const {
    for (std::size_t at = home(id);; at = next(at))
      if (slots_[at].node == nobody || slots_[at].id == id) return slots_[at].node;
  }

 private:
  struct Slot {
    OpId id;
    Node node = nobody;
  };
  std::size_t home(OpId id) const {
    return static_cast<std::size_t>((id.value() * 0x9E3779B97F4A7C15ull) >> 20) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::vector<Slot> slots_;
};

class Linker {
 public:
  Linker(const std::vector<RankProgram>& programs, const RankGrid& grid, std::vector<Unlinked>* unlinked)
      : programs_(programs), grid_(grid), unlinked_(unlinked) {}

  Step link() {
    flatten();
    find_ids();
    join();
    return std::move(step_);
  }

 private:
  const Op& op(std::size_t rank, Node node) const { return programs_[rank].ops[node - step_.first[rank]]; }

  void leave(Node node, std::string why) {
    if (unlinked_) unlinked_->push_back({node, std::move(why)});
  }

  void flatten() {
    std::size_t nodes = 0, edges = 0, previous = 0;
    for (const RankProgram& program : programs_) {
      nodes += program.ops.size();
      for (const Op& op : program.ops) {
        edges += op.after.size();
        previous += op.after_previous.size();
      }
    }
    step_.ids.reserve(nodes);
    step_.after.begin.reserve(nodes + 1);
    step_.after.items.reserve(edges);
    step_.after_previous.begin.reserve(nodes + 1);
    step_.after_previous.items.reserve(previous);
    for (const RankProgram& program : programs_) {
      const Node base = step_.first.back();
      for (const Op& op : program.ops) {
        step_.ids.push_back(op.id);
        for (const auto* list : {&op.after, &op.after_previous})
          for (const OpIndex before : *list)
            if (before >= program.ops.size())
              throw std::invalid_argument(fmt::format("rank {}, {}: depends on an op that does not exist",
                                                      step_.first.size() - 1, to_token(op.id)));
        for (const OpIndex before : op.after) step_.after.items.push_back(base + before);
        for (const OpIndex before : op.after_previous) step_.after_previous.items.push_back(base + before);
        step_.after.close_row();
        step_.after_previous.close_row();
      }
      step_.first.push_back(static_cast<Node>(step_.ids.size()));
      step_.serves.push_back(grid_.is_server(static_cast<int>(step_.serves.size())));
      step_.arrivals_ahead.push_back(program.arrivals_ahead);
    }
    step_.exchange.assign(nodes, nobody);
    step_.has_pipeline = grid_.pipeline > 1;
    step_.steps_apart = steps_apart(programs_);
  }

  void find_ids() {
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      const auto& ops = programs_[rank].ops;
      const auto communications = std::ranges::count_if(ops, [](const Op& o) { return is_communication(o.id.kind()); });
      IdTable& table = tables_.emplace_back(static_cast<std::size_t>(communications));
      for (OpIndex i = 0; i < ops.size(); ++i)
        if (is_communication(ops[i].id.kind()) && !table.insert(ops[i].id, step_.first[rank] + i))
          leave(step_.first[rank] + i, "this id appears twice in the program");
    }
  }

  /// The receive of a send; `nobody` if they cannot meet.
  Node receiver_of(std::size_t rank, Node send) {
    const Op& mine = op(rank, send);
    const auto there = static_cast<std::size_t>(mine.peer);
    if (mine.peer < 0 || there >= programs_.size()) return leave(send, "its peer is no rank"), nobody;
    const OpId id = counterpart(mine.id);
    const Node receive = tables_[there].find(id);
    if (receive == nobody) return leave(send, fmt::format("no {} in rank {}'s program", to_token(id), there)), nobody;
    const Op& other = op(there, receive);
    if (other.peer != static_cast<int>(rank))
      return leave(send, fmt::format("rank {}'s {} wants rank {}", there, to_token(id), other.peer)), nobody;
    const std::int64_t sent = programs_[rank].payload_bytes(mine);
    const std::int64_t expected = programs_[there].payload_bytes(other);
    if (sent != expected)
      return leave(send, fmt::format("sends {}, rank {} expects {}", counted(sent, "byte"), there, expected)), nobody;
    return receive;
  }

  /// Appends the members of a collective to the open row; false if they cannot meet.
  bool add_members(std::size_t rank, Node node, const std::vector<int>& group) {
    const Op& mine = op(rank, node);
    const auto n = static_cast<int>(group.size());
    for (const int member : group) {
      const auto there = static_cast<std::size_t>(member);
      if (there >= programs_.size()) return leave(node, fmt::format("there is no program of rank {}", member)), false;
      const Node theirs = tables_[there].find(mine.id);
      if (theirs == nobody || op(there, theirs).group != mine.group)
        return leave(node, fmt::format("rank {} of its group has no such op", member)), false;
      step_.members.items.push_back(theirs);
      const std::int64_t bytes = whole_bytes(programs_[rank], mine, n);
      const std::int64_t others = whole_bytes(programs_[there], op(there, theirs), n);
      if (bytes != others)
        return leave(node, fmt::format("moves {}, on rank {} {}", counted(bytes, "byte"), member, others)), false;
    }
    return true;
  }

  void join() {
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      std::vector<int> groups[group_kind_count];
      for (int kind = 0; kind < group_kind_count; ++kind)
        groups[kind] = grid_.group_of(static_cast<int>(rank), static_cast<GroupKind>(kind));
      for (Node node = step_.first[rank]; node < step_.first[rank + 1]; ++node) {
        const Op& mine = op(rank, node);
        int members = 2;
        if (mine.id.kind() == OpKind::send) {
          const Node receive = receiver_of(rank, node);
          if (receive == nobody) continue;
          step_.members.items.insert(step_.members.items.end(), {node, receive});
        } else if (is_collective(mine.id.kind())) {
          const auto& group = groups[static_cast<std::size_t>(mine.group)];
          if (group.front() != static_cast<int>(rank)) continue;  // the first member represents the group
          members = static_cast<int>(group.size());
          const std::size_t begin = step_.members.items.size();
          if (!add_members(rank, node, group)) {
            step_.members.items.resize(begin);
            continue;
          }
        } else {
          continue;
        }
        for (std::size_t i = step_.members.begin.back(); i < step_.members.items.size(); ++i)
          step_.exchange[step_.members.items[i]] = static_cast<ExchangeIndex>(step_.members.size());
        step_.members.close_row();
        const RankProgram& program = programs_[rank];
        const bool is_message = mine.id.kind() == OpKind::send;
        step_.exchanges.push_back({whole_bytes(program, mine, members),
                                   static_cast<int>(bytes_of(type_of(program, mine))), mine.root,
                                   is_message ? GroupKind::self : mine.group});
      }
    }
    if (!unlinked_) return;
    for (std::size_t rank = 0; rank < programs_.size(); ++rank)
      for (Node node = step_.first[rank]; node < step_.first[rank + 1]; ++node) {
        const Op& mine = op(rank, node);
        if (step_.exchange[node] != nobody || !is_communication(mine.id.kind())) continue;
        if (mine.id.kind() == OpKind::receive)
          leave(node, fmt::format("no {} in rank {}'s program", to_token(counterpart(mine.id)), mine.peer));
        else if (mine.id.kind() != OpKind::send)
          leave(node, "the first rank of its group has no such op");
      }
  }

  const std::vector<RankProgram>& programs_;
  const RankGrid& grid_;
  std::vector<Unlinked>* unlinked_;
  std::vector<IdTable> tables_;  ///< [rank]
  Step step_;
};

}  // namespace

Step link(const std::vector<RankProgram>& programs, const RankGrid& grid, std::vector<Unlinked>* unlinked) {
  if (static_cast<int>(programs.size()) != grid.size())
    throw std::invalid_argument(
        fmt::format("there are {} for {}", counted(programs.size(), "program"), counted(grid.size(), "rank")));
  return Linker(programs, grid, unlinked).link();
}

}  // namespace rankscope
