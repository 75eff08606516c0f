#include "engine/op/op_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "engine/op/word_list.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

// From the lowest bit: index 11, segment 5, block 11, micro-batch 16, chunk 12, purpose 4, kind 5.
constexpr int index_bits = 11, segment_bits = 5, block_bits = 11, micro_bits = 16, chunk_bits = 12, purpose_bits = 4;
constexpr int segment_at = index_bits, block_at = segment_at + segment_bits, micro_at = block_at + block_bits,
              chunk_at = micro_at + micro_bits, purpose_at = chunk_at + chunk_bits, kind_at = purpose_at + purpose_bits;
static_assert(kind_at + 5 == 64);
static_assert(op_kind_count <= 1 << 5 && purpose_count <= 1 << purpose_bits);

// Of observed ops: this segment; above it lane 6, name 20 and 13 bits of the occurrence, whose lower 11 are the
// index's.
constexpr int observed_segment = 31, lane_bits = 6, name_bits = 20, occurrence_bits = 24;
constexpr int name_at = block_at + occurrence_bits - index_bits, lane_at = name_at + name_bits;
static_assert(lane_at + lane_bits == purpose_at && segment_count <= observed_segment);
static_assert(lane_slots - first_observed_lane <= 1 << lane_bits);

std::uint64_t pack(int value, int bits, int at, const char* what) {
  const int none = (1 << bits) - 1;
  if (value < -1 || value >= none)
    throw std::out_of_range(fmt::format("op id: {} {} is not within 0 … {}", what, value, none - 1));
  return static_cast<std::uint64_t>(value < 0 ? none : value) << at;
}

int unpack(std::uint64_t bits_value, int bits, int at) {
  const int none = (1 << bits) - 1;
  const int value = static_cast<int>((bits_value >> at) & static_cast<std::uint64_t>(none));
  return value == none ? -1 : value;
}

constexpr std::array<std::string_view, op_kind_count> kind_tokens{
    "F",         "B",       "I",      "W",         "R",      "SEND",      "RECV",
    "BROADCAST", "SCATTER", "REDUCE", "ALLREDUCE", "GATHER", "ALLGATHER", "REDUCESCATTER",
    "ALLTOALL",  "COPY",    "OPT",    "LOAD",      "CKPT",   "CHECK",     "COMPUTE"};

std::optional<int> number(std::string_view text) {
  const auto value = number_in<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

OpId OpId::of(const OpFields& f) {
  return OpId(pack(f.index, index_bits, 0, "index") | static_cast<std::uint64_t>(f.segment) << segment_at |
              pack(f.block, block_bits, block_at, "block") | pack(f.micro_batch, micro_bits, micro_at, "micro-batch") |
              pack(f.chunk, chunk_bits, chunk_at, "chunk") | static_cast<std::uint64_t>(f.purpose) << purpose_at |
              static_cast<std::uint64_t>(f.kind) << kind_at);
}

OpId OpId::of_observed(const ObservedOp& op) {
  const auto field = [](int value, int bits, int at, const char* what) {
    if (value < 0 || value >= 1 << bits)
      throw std::out_of_range(fmt::format("op id: {} {} is not within 0 … {}", what, value, (1 << bits) - 1));
    return static_cast<std::uint64_t>(value) << at;
  };
  const std::uint64_t occurrence = field(op.occurrence, occurrence_bits, 0, "occurrence");
  const std::uint64_t low = occurrence & ((1U << index_bits) - 1);
  return OpId(low | std::uint64_t{observed_segment} << segment_at | (occurrence >> index_bits) << block_at |
              field(op.name, name_bits, name_at, "name") |
              field(static_cast<int>(op.lane) - first_observed_lane, lane_bits, lane_at, "lane") |
              static_cast<std::uint64_t>(op.purpose) << purpose_at | static_cast<std::uint64_t>(op.kind) << kind_at);
}

bool OpId::valid() const {
  const std::uint64_t segment = (value_ >> segment_at) & 0x1F;
  return (value_ >> kind_at) < op_kind_count && (segment < segment_count || segment == observed_segment);
}

bool OpId::is_observed() const { return valid() && ((value_ >> segment_at) & 0x1F) == observed_segment; }

ObservedOp OpId::observed() const {
  const auto field = [this](int bits, int at) {
    return static_cast<int>((value_ >> at) & ((std::uint64_t{1} << bits) - 1));
  };
  ObservedOp op;
  op.kind = static_cast<OpKind>(value_ >> kind_at);
  op.purpose = static_cast<Purpose>(field(purpose_bits, purpose_at));
  op.lane = static_cast<Lane>(first_observed_lane + field(lane_bits, lane_at));
  op.name = field(name_bits, name_at);
  op.occurrence = field(occurrence_bits - index_bits, block_at) << index_bits | field(index_bits, 0);
  return op;
}

OpFields OpId::fields() const {
  OpFields f;
  f.kind = static_cast<OpKind>(value_ >> kind_at);
  f.purpose = static_cast<Purpose>((value_ >> purpose_at) & 0xF);
  if (is_observed()) return f;
  f.chunk = unpack(value_, chunk_bits, chunk_at);
  f.micro_batch = unpack(value_, micro_bits, micro_at);
  f.block = unpack(value_, block_bits, block_at);
  f.segment = static_cast<Segment>((value_ >> segment_at) & 0x1F);
  f.index = unpack(value_, index_bits, 0);
  return f;
}

Lane OpId::lane() const {
  if (is_observed()) return observed().lane;
  const OpFields f = fields();
  return lane_of(f.kind, f.purpose);
}

std::string to_token(OpId id) {
  if (!id.valid()) return fmt::format("?{}", id.value());
  const OpFields f = id.fields();
  std::string token(kind_tokens[static_cast<std::size_t>(f.kind)]);
  if (f.purpose != Purpose::none) token.append(".").append(name_of(f.purpose));
  if (id.is_observed()) {
    const ObservedOp op = id.observed();
    return token + fmt::format(":l{}:n{}:i{}", static_cast<int>(op.lane), op.name, op.occurrence);
  }
  if (f.chunk >= 0) token += fmt::format(":c{}", f.chunk);
  if (f.micro_batch >= 0) token += fmt::format(":m{}", f.micro_batch);
  if (f.block >= 0 || f.segment != Segment::whole) {
    token += ":";
    if (f.block >= 0) token += fmt::format("b{}", f.block);
    if (f.segment != Segment::whole) token.append(".").append(name_of(f.segment));
  }
  if (f.index >= 0) token += fmt::format(":i{}", f.index);
  return token;
}

std::optional<OpId> parse_token(std::string_view token, std::string* error) {
  const auto fail = [&](const std::string& why) -> std::optional<OpId> {
    if (error) *error = "'" + std::string(token) + "' is no op: " + why;
    return std::nullopt;
  };
  OpFields f;
  int lane = -1, name = -1;  // of an observed op
  if (token.empty() || token.back() == ':') return fail("a field is missing at its end");
  std::string_view rest = token;
  const auto next = [&]() {
    const auto colon = rest.find(':');
    std::string_view part = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    return part;
  };
  std::string_view head = next();
  const auto dot = head.find('.');
  if (dot != std::string_view::npos) {
    const auto purpose = value_named<Purpose>(head.substr(dot + 1), purpose_count);
    if (!purpose || *purpose == Purpose::none)
      return fail("unknown purpose '" + std::string(head.substr(dot + 1)) + "'");
    f.purpose = *purpose;
    head = head.substr(0, dot);
  }
  int kind = 0;
  while (kind < op_kind_count && kind_tokens[static_cast<std::size_t>(kind)] != head) ++kind;
  if (kind == op_kind_count) return fail("unknown kind '" + std::string(head) + "'");
  f.kind = static_cast<OpKind>(kind);
  const bool is_observed = rest.starts_with('l');
  if (!is_observed && !may_have(f.kind, f.purpose))
    return fail(f.purpose == Purpose::none
                    ? "a communication names its purpose, as in SEND.pipeline_forward"
                    : std::string(name_of(f.kind)) + " has no purpose '" + std::string(name_of(f.purpose)) + "'");
  while (!rest.empty()) {
    std::string_view part = next();
    if (part.empty()) return fail("an empty field");
    int* target = part[0] == 'c'   ? &f.chunk
                  : part[0] == 'm' ? &f.micro_batch
                  : part[0] == 'i' ? &f.index
                  : part[0] == 'l' ? &lane
                  : part[0] == 'n' ? &name
                                   : nullptr;
    if (target) {
      const auto value = number(part.substr(1));
      if (!value) return fail("'" + std::string(part) + "' wants a number after its letter");
      *target = *value;
      continue;
    }
    const auto segment_dot = part.find('.');
    const std::string_view block = part.substr(0, segment_dot);
    if (!block.empty()) {
      const auto value = block[0] == 'b' ? number(block.substr(1)) : std::nullopt;
      if (!value) return fail("unknown field '" + std::string(part) + "'");
      f.block = *value;
    }
    if (segment_dot != std::string_view::npos) {
      const auto segment = value_named<Segment>(part.substr(segment_dot + 1), segment_count);
      if (!segment || *segment == Segment::whole) return fail("unknown segment '" + std::string(part) + "'");
      f.segment = *segment;
    }
  }
  if (is_observed != (lane >= 0) || is_observed != (name >= 0) || (is_observed && f.index < 0))
    return fail("an op of an imported run has a lane, a name and an occurrence, as in B:l16:n7:i2");
  if (is_observed && (f.chunk >= 0 || f.micro_batch >= 0 || f.block >= 0 || f.segment != Segment::whole))
    return fail("an op of an imported run has no place in a model");
  try {
    if (is_observed)
      return OpId::of_observed({f.kind, f.purpose, static_cast<Lane>(std::min(lane, 255)), name, f.index});
    return OpId::of(f);
  } catch (const std::out_of_range& e) {
    return fail(e.what());
  }
}

OpId counterpart(OpId id) {
  OpFields f = id.fields();
  if (f.kind != OpKind::send && f.kind != OpKind::receive) return id;
  if (id.is_observed()) {
    ObservedOp op = id.observed();
    op.kind = f.kind == OpKind::send ? OpKind::receive : OpKind::send;
    return OpId::of_observed(op);
  }
  // The direction of the bytes, in chunks; none between workers and servers.
  const int onward = f.purpose == Purpose::pipeline_forward ? 1 : f.purpose == Purpose::pipeline_backward ? -1 : 0;
  f.chunk += f.kind == OpKind::send ? onward : -onward;
  f.kind = f.kind == OpKind::send ? OpKind::receive : OpKind::send;
  return OpId::of(f);
}

OpId folded_to_chunk(OpId id) {
  if (id.is_observed()) return id;
  OpFields f = id.fields();
  f.block = -1;
  f.segment = Segment::whole;
  return OpId::of(f);
}

OpId folded_to_block(OpId id) {
  if (id.is_observed()) return id;
  OpFields f = id.fields();
  if (f.block >= 0) f.segment = Segment::whole;
  return OpId::of(f);
}

}  // namespace rankscope
