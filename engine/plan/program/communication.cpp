#include "engine/plan/program/communication.hpp"

#include <algorithm>
#include <unordered_map>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

std::int64_t elements_of(const RankProgram& program, std::span<const BufferUse> uses) {
  std::int64_t elements = 0;
  for (const BufferUse& use : uses) elements += program.buffers[use.buffer].shape.elements();
  return elements;
}

/// The operand with the complete data, or a part of it (`times` n), or the message.
struct Sized {
  std::span<const BufferUse> uses;
  std::int64_t times = 1;
};
Sized sized_operand(const Op& op, int members) {
  const CommOperands o = operands_of(op);
  const OpKind kind = op.id.kind();
  if (o.in_place() || !has_parts(kind) || kind == OpKind::all_to_all || kind == OpKind::reduce_scatter)
    return {o.input.empty() ? o.output : o.input};
  return {gathers_parts(kind) ? o.input : o.output, members};
}

/// The uses as letters, one per operand: "rw", "aw", "a", …
std::string pattern_of(const Op& op) {
  std::string pattern;
  for (const BufferUse& use : op.uses)
    if (const char letter = "rwa"[static_cast<std::size_t>(use.access)]; pattern.empty() || pattern.back() != letter)
      pattern += letter;
  return pattern;
}

struct Rule {
  const char* out_of_place;  ///< null: no such form
  const char* in_place;
  const char* words;
};
Rule rule_of(OpKind kind, bool is_root) {
  switch (kind) {
    case OpKind::send: return {"r", nullptr, "reads its data"};
    case OpKind::receive: return {"w", nullptr, "writes its data"};
    case OpKind::broadcast:
      return is_root ? Rule{"r", nullptr, "reads its data at the root"}
                     : Rule{"w", nullptr, "writes its data away from the root"};
    case OpKind::reduce:
    case OpKind::all_reduce: return {nullptr, "a", "accumulates into its data"};
    case OpKind::scatter:
      return is_root ? Rule{"rw", "a", "reads the whole and writes a part, or has the whole in place, at the root"}
                     : Rule{"w", nullptr, "writes a part away from the root"};
    case OpKind::gather:
      return is_root ? Rule{"rw", "a", "reads a part and writes the whole, or has the whole in place, at the root"}
                     : Rule{"r", nullptr, "reads a part away from the root"};
    case OpKind::all_gather: return {"rw", "a", "reads a part and writes the whole, or has the whole in place"};
    case OpKind::reduce_scatter:
      return {"aw", "a", "accumulates into the whole and writes a part, or has the whole in place"};
    case OpKind::all_to_all: return {"rw", nullptr, "reads what it sends and writes what it receives"};
    case OpKind::forward:
    case OpKind::backward:
    case OpKind::input_gradient:
    case OpKind::weight_gradient:
    case OpKind::recompute:
    case OpKind::copy:
    case OpKind::optimizer:
    case OpKind::load_batch:
    case OpKind::checkpoint:
    case OpKind::check:
    case OpKind::compute: break;
  }
  return {nullptr, nullptr, "is no communication"};
}

/// A gap between two buffers of one operand: the name of the second.
std::optional<std::string> find_gap(const RankProgram& program, std::span<const BufferUse> uses) {
  for (std::size_t i = 1; i < uses.size(); ++i) {
    const Buffer &before = program.buffers[uses[i - 1].buffer], &buffer = program.buffers[uses[i].buffer];
    if (before.offset >= 0 && buffer.offset >= 0 && before.offset + before.bytes() != buffer.offset) return buffer.name;
  }
  return std::nullopt;
}

/// The error in the sizes of operands with valid uses.
std::optional<std::string> find_wrong_size(const RankProgram& program, const Op& op, int n) {
  const CommOperands o = operands_of(op);
  const OpKind kind = op.id.kind();
  const std::int64_t in = elements_of(program, o.input), out = elements_of(program, o.output);
  if (!has_parts(kind)) return std::nullopt;
  const bool is_one_operand = o.in_place() || o.input.empty() || o.output.empty();
  if (kind == OpKind::all_to_all || o.in_place()) {
    if (in % n != 0) return fmt::format("{} are not equal parts for {}", counted(in, "element"), counted(n, "member"));
    if (in != out) return fmt::format("sends {} and receives {}: must be equal", counted(in, "element"), out);
    return std::nullopt;
  }
  if (is_one_operand) return std::nullopt;  // only a part: the rest is checked by the agreement of members
  const std::int64_t part = gathers_parts(kind) ? in : out, whole = gathers_parts(kind) ? out : in;
  if (whole != part * n)
    return fmt::format("the whole has {}, {} × a part of {} are {}", counted(whole, "element"), counted(n, "member"),
                       part, part * n);
  return std::nullopt;
}

}  // namespace

CommOperands operands_of(const Op& op) {
  const std::span<const BufferUse> uses(op.uses);
  if (uses.empty()) return {};
  std::size_t end = 0;
  while (end < uses.size() && uses[end].access == uses[0].access) ++end;
  if (uses[0].access == Access::write) return {{}, uses};
  if (end < uses.size()) return {uses.first(end), uses.subspan(end)};
  return {uses, uses[0].access == Access::accumulate ? uses : std::span<const BufferUse>{}};
}

std::int64_t whole_bytes(const RankProgram& program, const Op& op, int members) {
  const Sized operand = sized_operand(op, members);
  std::int64_t bytes = 0;
  for (const BufferUse& use : operand.uses) bytes += program.buffers[use.buffer].bytes();
  return bytes * operand.times;
}

std::int64_t contribution_bytes(const RankProgram& program, const Op& op, int members) {
  return whole_bytes(program, op, members) / (gathers_parts(op.id.kind()) ? members : 1);
}

DType type_of(const RankProgram& program, const Op& op) {
  return op.uses.empty() ? DType::u8 : program.buffers[op.uses.front().buffer].type;
}

std::optional<std::string> find_misuse(const RankProgram& program, const Op& op, const RankGrid& grid) {
  const OpKind kind = op.id.kind();
  const auto wrong = [&](const std::string& why) {
    return fmt::format("rank {}, {}: {}", program.rank, to_token(op.id), why);
  };
  int members = 2;
  if (is_collective(kind)) {
    const std::vector<int> group = grid.group_of(program.rank, op.group);
    members = static_cast<int>(group.size());
    if (op.peer >= 0) return wrong("a collective has a group and no peer");
    if (has_root(kind) && !contains(group, op.root))
      return wrong(op.root < 0 ? "says no root" : fmt::format("its root, rank {}, is not in its group", op.root));
    if (!has_root(kind) && op.root >= 0) return wrong("has a root, which its kind has not");
  } else if (op.peer < 0 || op.peer >= grid.size() || op.peer == program.rank) {
    return wrong(fmt::format("its peer, rank {}, is no other rank", op.peer));
  }
  const Rule rule = rule_of(kind, op.root == program.rank);
  const std::string pattern = pattern_of(op);
  if (!(rule.out_of_place && pattern == rule.out_of_place) && !(rule.in_place && pattern == rule.in_place))
    return wrong("uses its buffers as '" + pattern + "'; " + std::string(name_of(kind)) + " " + rule.words);
  for (const BufferUse& use : op.uses)
    if (program.buffers[use.buffer].type != type_of(program, op))
      return wrong(fmt::format("'{}' is {}, not {}", program.buffers[use.buffer].name,
                               name_of(program.buffers[use.buffer].type), name_of(type_of(program, op))));
  if (const auto size = find_wrong_size(program, op, members)) return wrong(*size);
  const CommOperands operands = operands_of(op);
  for (const auto uses : {operands.input, operands.output})
    if (const auto gap = find_gap(program, uses))
      return wrong("'" + *gap + "' is not directly after its neighbour");
  return std::nullopt;
}

std::optional<std::string> find_misuse(const std::vector<RankProgram>& programs, const RankGrid& grid) {
  std::vector<std::unordered_map<OpId, const Op*>> by_id(programs.size());
  for (std::size_t rank = 0; rank < programs.size(); ++rank)
    for (const Op& op : programs[rank].ops) {
      if (!is_communication(op.id.kind())) continue;
      if (auto misuse = find_misuse(programs[rank], op, grid)) return misuse;
      by_id[rank].emplace(op.id, &op);
    }
  const auto find = [&](int rank, OpId id) -> const Op* {
    if (rank < 0 || rank >= static_cast<int>(programs.size())) return nullptr;
    const auto& ops = by_id[rank];
    const auto at = ops.find(id);
    return at == ops.end() ? nullptr : at->second;
  };
  for (const RankProgram& program : programs)
    for (const Op& op : program.ops) {
      const std::string who = fmt::format("rank {}", program.rank);
      if (op.id.kind() == OpKind::send) {
        const Op* end = find(op.peer, counterpart(op.id));
        if (!end) continue;
        const std::int64_t sent = whole_bytes(program, op, 2), expected = whole_bytes(programs[op.peer], *end, 2);
        if (sent != expected)
          return fmt::format("{} sends {} by {}, but rank {} expects {}", who, counted(sent, "byte"), to_token(op.id),
                             op.peer, expected);
      } else if (is_collective(op.id.kind())) {
        const std::vector<int> group = grid.group_of(program.rank, op.group);
        const int n = static_cast<int>(group.size());
        if (group.front() == program.rank) continue;
        const Op* first = find(group.front(), op.id);
        if (!first) continue;
        const RankProgram& other = programs[group.front()];
        const auto describe = [n](const RankProgram& p, const Op& o) {
          return fmt::format("{} of {}{} over its {} group", counted(whole_bytes(p, o, n), "byte"),
                             name_of(type_of(p, o)), o.root < 0 ? "" : fmt::format(" with root {}", o.root),
                             name_of(o.group));
        };
        if (const std::string mine = describe(program, op), theirs = describe(other, *first); mine != theirs)
          return fmt::format("{} calls {} on {}, but rank {} on {}", who, to_token(op.id), mine, other.rank, theirs);
      }
    }
  return std::nullopt;
}

}  // namespace rankscope
