#include "engine/plan/collective/definition.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {

std::int64_t whole_elements(OpKind kind, int n, double bytes, std::int64_t element_bytes) {
  const auto elements = static_cast<std::int64_t>(std::ceil(bytes / static_cast<double>(element_bytes)));
  return has_parts(kind) ? (elements + n - 1) / n * n : elements;
}

std::int64_t brought_elements(const CollectiveTask& task, int member) {
  const bool sends_alone = task.kind == OpKind::broadcast || task.kind == OpKind::scatter;
  if (sends_alone && member != task.root) return 0;
  return gathers_parts(task.kind) ? task.part() : task.elements;
}

std::int64_t left_elements(const CollectiveTask& task, int member) {
  const bool collects_alone = task.kind == OpKind::reduce || task.kind == OpKind::gather;
  if (collects_alone && member != task.root) return 0;
  return hands_out_parts(task.kind) ? task.part() : task.elements;
}

int losing_rank(const CollectiveTask& task) { return brought_elements(task, task.n - 1) > 0 ? task.n - 1 : task.root; }

std::uint32_t exact_levels(int digits, int n) {
  constexpr int most = 20;
  int bits = std::min(digits, most);
  while (bits > 0 && static_cast<double>(n) * ((1u << bits) - 1) > std::ldexp(1.0, digits)) --bits;
  return bits == 0 ? 0 : 1u << bits;
}

}  // namespace rankscope
