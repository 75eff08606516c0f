#include "telemetry/store/span_chunk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace rankscope {
namespace {

constexpr std::uint32_t unknown_cpu = UINT32_MAX;
// Late spans of steps before a chunk's first step must still fit.
constexpr std::uint32_t step_slack = 1024;

// Not below the value: a bound used to prune a search must never be too small.
float rounded_up(std::int64_t value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) < static_cast<double>(value)
             ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
             : nearest;
}

}  // namespace

void SpanSums::add(SpanClass kind, std::int64_t begin_ns, std::int64_t active_ns, std::int64_t end_ns) {
  const std::int64_t waiting = may_wait(kind) ? active_ns - begin_ns : 0;
  last_end_ns = std::max(last_end_ns, end_ns);
  longest_ns = std::max(longest_ns, rounded_up(end_ns - begin_ns));
  waiting_ns += static_cast<float>(waiting);
  busy_ns[static_cast<std::size_t>(kind)] += static_cast<float>(end_ns - begin_ns - waiting);
}

void SpanSums::add(const SpanSums& sums) {
  last_end_ns = std::max(last_end_ns, sums.last_end_ns);
  longest_ns = std::max(longest_ns, sums.longest_ns);
  waiting_ns += sums.waiting_ns;
  for (std::size_t k = 0; k < busy_ns.size(); ++k) busy_ns[k] += sums.busy_ns[k];
}

void SpanChunkRef::add(const SpanRow& row) {
  if (count == 0) first_begin_ns = row.begin_ns;
  least_step = std::min(least_step, row.step);
  greatest_step = std::max(greatest_step, row.step);
}

void SpanChunkRef::copy(const SpanChunk& from, std::uint32_t first, std::uint32_t last) {
  if (chunk->append(count, from, first, last)) {
    if (count == 0) first_begin_ns = from.begin(first);
    for (std::uint32_t i = first; i < last; ++i) {
      least_step = std::min(least_step, from.step(i));
      greatest_step = std::max(greatest_step, from.step(i));
    }
    count += last - first;
    return;
  }
  for (std::uint32_t i = first; i < last; ++i) {
    const SpanRow row = from.at(i);
    if (!chunk->holds(row)) chunk = chunk->grown(count, chunk->capacity(), row);
    chunk->append(count, row);
    add(row);
    ++count;
  }
}

void SpanChunkRef::sum_up() {
  sums = chunk->sums(count);
  summed = count;
}

bool SpanChunk::before(const SpanRow& a, const SpanRow& b) {
  return std::tie(a.begin_ns, a.end_ns, a.step, a.op) < std::tie(b.begin_ns, b.end_ns, b.step, b.op);
}

SpanChunk::SpanChunk(const LaneOps& ops, std::uint32_t capacity, std::uint32_t base_step, bool wide)
    : ops_(&ops), capacity_(capacity), base_step_(base_step), wide_(wide) {
  memory_ = std::make_unique_for_overwrite<std::byte[]>(column_bytes());
  std::byte* next = memory_.get();
  // The widest first, so that each is aligned.
  const auto take = [&next]<class T>(T*& column, std::size_t count) {
    column = reinterpret_cast<T*>(next);
    std::uninitialized_default_construct_n(column, count);
    next += count * sizeof(T);
  };
  take(sixteens_, capacity / fan_out);
  take(groups_, capacity / group);
  take(begin_, capacity);
  if (wide) {
    for (auto* column : {&wide_duration_, &wide_wait_, &wide_cpu_}) take(*column, capacity);
    for (auto* column : {&wide_op_, &wide_step_}) take(*column, capacity);
  } else {
    for (auto* column : {&duration_, &wait_, &cpu_}) take(*column, capacity);
    for (auto* column : {&op_, &step_}) take(*column, capacity);
  }
}

SpanChunk::SpanChunk(const LaneOps& ops, std::uint32_t capacity, const SpanRow& first)
    : SpanChunk(ops, capacity, first.step - std::min(first.step, step_slack), false) {
  if (!fits_narrow(first)) *this = SpanChunk(ops, capacity, base_step_, true);
}

bool SpanChunk::fits_narrow(const SpanRow& row) const {
  return row.end_ns - row.begin_ns <= INT64_C(0xFFFFFFFF) && row.cpu_ns < INT64_C(0xFFFFFFFF) && row.number <= 0xFFFF &&
         row.step >= base_step_ && row.step - base_step_ <= 0xFFFF;
}

std::shared_ptr<SpanChunk> SpanChunk::grown(std::uint32_t count, std::uint32_t capacity, const SpanRow& row) const {
  std::shared_ptr<SpanChunk> copy(new SpanChunk(*ops_, capacity, base_step_, !holds(row) || wide_));
  for (std::uint32_t i = 0; i < count; ++i) copy->append(i, at(i));
  return copy;
}

SpanSums SpanChunk::sums(std::uint32_t count) const {
  SpanSums all = open_group_;
  all.add(open_sixteen_);
  for (std::uint32_t k = 0; k < count / group; ++k) all.add(groups_[k]);
  return all;
}

std::shared_ptr<SpanChunk> SpanChunk::empty_copy(std::uint32_t capacity) const {
  return std::shared_ptr<SpanChunk>(new SpanChunk(*ops_, capacity, base_step_, wide_));
}

std::uint32_t SpanChunk::place_of(const SpanRow& row, std::uint32_t first, std::uint32_t last) const {
  const auto place = static_cast<std::uint32_t>(std::lower_bound(begin_ + first, begin_ + last, row.begin_ns) - begin_);
  for (std::uint32_t i = place; i < last; ++i)
    if (!before(at(i), row)) return i;
  return last;
}

bool SpanChunk::append(std::uint32_t count, const SpanChunk& from, std::uint32_t first, std::uint32_t last) {
  if (wide_ || from.wide_ || base_step_ != from.base_step_) return false;
  const auto copy = [&](const auto* column, auto* into) { std::copy(column + first, column + last, into + count); };
  copy(from.begin_, begin_);
  copy(from.duration_, duration_);
  copy(from.wait_, wait_);
  copy(from.cpu_, cpu_);
  copy(from.op_, op_);
  copy(from.step_, step_);
  for (std::uint32_t i = count; i < count + (last - first); ++i) sum_up(i, op(i).kind);
  return true;
}

void SpanChunk::append(std::uint32_t i, const SpanRow& row) {
  begin_[i] = row.begin_ns;
  if (wide_) {
    wide_duration_[i] = row.end_ns - row.begin_ns;
    wide_wait_[i] = row.active_ns - row.begin_ns;
    wide_cpu_[i] = row.cpu_ns;
    wide_op_[i] = row.number;
    wide_step_[i] = row.step;
  } else {
    duration_[i] = static_cast<std::uint32_t>(row.end_ns - row.begin_ns);
    wait_[i] = static_cast<std::uint32_t>(row.active_ns - row.begin_ns);
    cpu_[i] = row.cpu_ns < 0 ? unknown_cpu : static_cast<std::uint32_t>(row.cpu_ns);
    op_[i] = static_cast<std::uint16_t>(row.number);
    step_[i] = static_cast<std::uint16_t>(row.step - base_step_);
  }
  sum_up(i, row.kind);
}

void SpanChunk::sum_up(std::uint32_t i, SpanClass kind) {
  open_sixteen_.add(kind, begin_[i], begin_[i] + wait(i), end(i));
  if (i % fan_out != fan_out - 1) return;
  sixteens_[i / fan_out] = open_sixteen_;
  open_group_.add(open_sixteen_);
  open_sixteen_ = {};
  if (i % group != group - 1) return;
  groups_[i / group] = open_group_;
  open_group_ = {};
}

SpanRow SpanChunk::at(std::uint32_t i) const {
  SpanRow row;
  row.number = wide_ ? wide_op_[i] : op_[i];
  const LaneOp& op = (*ops_)[row.number];
  row.op = op.id;
  row.kind = op.kind;
  row.begin_ns = begin_[i];
  row.active_ns = begin_[i] + wait(i);
  row.end_ns = end(i);
  row.cpu_ns = wide_ ? wide_cpu_[i] : cpu_[i] == unknown_cpu ? -1 : std::int64_t{cpu_[i]};
  row.step = step(i);
  return row;
}

std::size_t SpanChunk::column_bytes() const {
  const std::size_t row = wide_ ? 8 + 3 * 8 + 2 * 4 : 8 + 3 * 4 + 2 * 2;
  return row * capacity_ + sizeof(SpanSums) * (capacity_ / fan_out + capacity_ / group);
}

std::int64_t SpanChunk::bytes() const { return static_cast<std::int64_t>(sizeof *this + column_bytes()); }

}  // namespace rankscope
