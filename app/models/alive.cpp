// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/alive.hpp"

#include <algorithm>

#include "app/models/translated.hpp"

namespace rankscope {

std::vector<AliveBuffer> alive_at(const RankProgram& program, OpIndex op) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  std::vector<AliveBuffer> alive;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0 || buffer.bytes() == 0) continue;
    const Lifetime& life = lifetimes[b];
    if (buffer.persistent)
      alive.push_back({buffer.name, ledger_class(buffer), buffer.bytes(), {}, {}});
    else if (life.used() && life.first <= op && op <= life.last)
      alive.push_back(
          {buffer.name, ledger_class(buffer), buffer.bytes(), program.ops[life.first].id, program.ops[life.last].id});
  }
  if (program.scratch_bytes > 0)
    alive.push_back({translated("kernel workspace"), MemoryClass::workspace, program.scratch_bytes, {}, {}});
  if (program.context_bytes > 0)
    alive.push_back(
        {translated("driver and libraries of the device"), MemoryClass::context, program.context_bytes, {}, {}});
  if (program.host_scratch_bytes > 0)
    alive.push_back(
        {translated("kernel workspace on the host"), MemoryClass::host, program.host_scratch_bytes, {}, {}});
  std::stable_sort(alive.begin(), alive.end(),
                   [](const AliveBuffer& a, const AliveBuffer& b) { return a.bytes > b.bytes; });
  return alive;
}

bool drop_ended(std::vector<AliveBuffer>& alive, OpId op, const ClassBytes& seen) {
  ClassBytes during{};
  for (const AliveBuffer& buffer : alive) during[static_cast<std::size_t>(buffer.memory)] += buffer.bytes;
  bool less = false;
  for (const MemoryClass memory : {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer,
                                   MemoryClass::activations, MemoryClass::buffers})
    less = less || seen[static_cast<std::size_t>(memory)] < during[static_cast<std::size_t>(memory)];
  if (less) std::erase_if(alive, [op](const AliveBuffer& buffer) { return buffer.last.valid() && buffer.last == op; });
  return less;
}

std::optional<OpIndex> index_of(const RankProgram& program, OpId op) {
  const auto found = std::find_if(program.ops.begin(), program.ops.end(), [&](const Op& o) { return o.id == op; });
  if (found == program.ops.end()) return std::nullopt;
  return static_cast<OpIndex>(found - program.ops.begin());
}

}  // namespace rankscope
