#include "engine/plan/model/part.hpp"

#include <algorithm>
#include <cassert>

namespace rankscope {
namespace {

/// Where a rank's row begins in the whole parameter.
std::int64_t global_row(const ParameterSpec& p, int tensor, std::int64_t row) {
  if (p.split.axis != 0) return row;
  // Rows of a group on one rank, but of the first group so many times as many; ranks' shares lie one behind the other.
  const std::int64_t first = p.split.first, rows = p.shape[0] / (first + p.split.groups - 1);
  if (row < first * rows) return tensor * first * rows + row;
  const std::int64_t behind = row - first * rows, all = p.whole[0] / (first + p.split.groups - 1);
  return (first + behind / rows) * all + tensor * rows + behind % rows;
}

}  // namespace

std::vector<ElementRun> element_runs(const ParameterSpec& p, int tensor, std::int64_t first, std::int64_t count) {
  assert(first >= 0 && first + count <= p.shape.elements());
  const std::int64_t width = p.shape.elements() / p.shape[0];
  const std::int64_t whole_width = p.whole.elements() / p.whole[0];
  const std::int64_t column = p.split.axis == 1 ? tensor * width : 0;
  std::vector<ElementRun> runs;
  for (std::int64_t at = first; at < first + count;) {
    const std::int64_t row = global_row(p, tensor, at / width);
    const std::int64_t length = std::min(width - at % width, first + count - at);
    const std::int64_t global = row < p.whole[0] ? row * whole_width + column + at % width : ElementRun::padding;
    ElementRun* last = runs.empty() ? nullptr : &runs.back();
    const bool continues =
        last && (last->is_padding() ? global == ElementRun::padding : last->global + last->count == global);
    if (continues)
      last->count += length;
    else
      runs.push_back({at - first, global, length});
    at += length;
  }
  return runs;
}

}  // namespace rankscope
