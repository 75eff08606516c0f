#include "engine/predict/cost/signature.hpp"

#include <algorithm>

#include "engine/op/word_list.hpp"

namespace rankscope {
namespace {

constexpr auto access_names = word_list("read", "write", "accumulate");
static_assert(access_names.size() == static_cast<int>(Access::accumulate) + 1);
}  // namespace

OpSignature signature_of(const RankProgram& program, const Op& op) {
  // FNV-1a's step on complete words, with a shift that carries high bits down.
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3ull;
    hash ^= hash >> 29;
  };
  const OpFields f = op.id.fields();
  // A recomputed forward is the same work.
  mix(static_cast<std::uint64_t>(f.kind == OpKind::recompute ? OpKind::forward : f.kind));
  mix(static_cast<std::uint64_t>(f.segment));
  for (const BufferUse& use : op.uses) {
    const Buffer& buffer = program.buffers[use.buffer];
    mix(static_cast<std::uint64_t>(buffer.host) << 24 | static_cast<std::uint64_t>(use.access) << 16 |
        static_cast<std::uint64_t>(buffer.type) << 8 | static_cast<std::uint64_t>(buffer.shape.rank));
    for (int axis = 0; axis < buffer.shape.rank; ++axis) mix(static_cast<std::uint64_t>(buffer.shape[axis]));
  }
  return {hash};
}

std::string describe_signature(const RankProgram& program, const Op& op) {
  const OpFields f = op.id.fields();
  std::string text(name_of(f.kind));
  text.append(" ").append(name_of(f.segment));
  for (std::size_t i = 0; i < op.uses.size(); ++i) {
    const Buffer& buffer = program.buffers[op.uses[i].buffer];
    text.append(i ? ", " : ": ")
        .append(word_at(access_names, op.uses[i].access))
        .append(" ")
        .append(name_of(buffer.type));
    if (buffer.host) text += " host";
    for (int axis = 0; axis < buffer.shape.rank; ++axis)
      text.append(axis ? "x" : " ").append(std::to_string(buffer.shape[axis]));
  }
  return text;
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace rankscope
