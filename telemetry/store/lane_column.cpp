#include "telemetry/store/lane_column.hpp"

#include <algorithm>

namespace rankscope {

bool SeenOps::insert(std::uint32_t step, std::uint32_t number) {
  const std::uint32_t index = step / page_steps;
  if (index < first_index_) return false;
  if (!last_ || last_index_ != index) {
    const auto [page, is_new] = pages_.try_emplace(index);
    if (is_new) bytes_ += page_bytes;
    last_ = &page->second;
    last_index_ = index;
  }
  Page& page = *last_;
  if (number >= page.words * 64) {
    const std::uint32_t words = std::max(number / 64 + 1, page.words + page.words / 2);
    std::vector<std::uint64_t> wider(std::size_t{words} * page_steps);
    for (std::uint32_t s = 0; s < page_steps; ++s)
      std::copy_n(page.bits.begin() + static_cast<std::ptrdiff_t>(s * page.words), page.words,
                  wider.begin() + static_cast<std::ptrdiff_t>(s * words));
    bytes_ += static_cast<std::int64_t>((words - page.words) * page_steps * sizeof(std::uint64_t));
    page.bits = std::move(wider);
    page.words = words;
  }
  std::uint64_t& word = page.bits[std::size_t{step % page_steps} * page.words + number / 64];
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
  if (word & bit) return false;
  word |= bit;
  return true;
}

void SeenOps::forget_before(std::uint32_t step) {
  const std::uint32_t index = step / page_steps;
  if (index <= first_index_) return;
  first_index_ = index;
  last_ = nullptr;
  std::erase_if(pages_, [&](const auto& page) {
    if (page.first >= index) return false;
    bytes_ -= page_bytes + static_cast<std::int64_t>(page.second.bits.size() * sizeof(std::uint64_t));
    return true;
  });
}

LaneColumn::LaneColumn(LaneKey key) : key_(key), ops_(std::make_shared<LaneOps>()), spans_(*ops_) {}

bool LaneColumn::add(const Span& span) {
  SpanRow row;
  row.number = ops_->number(span.op);
  if (!seen_.insert(span.step, row.number)) return false;
  row.kind = (*ops_)[row.number].kind;
  row.op = span.op;
  row.step = span.step;
  row.begin_ns = span.begin_ns;
  row.active_ns = span.active_ns;
  row.end_ns = span.end_ns;
  row.cpu_ns = span.cpu_ns;
  spans_.add(row);
  view_.reset();
  return true;
}

std::shared_ptr<const LaneView> LaneColumn::view() {
  if (view_) return view_;
  spans_.settle();
  auto view = std::make_shared<LaneView>();
  view->key = key_;
  view->ops = ops_;
  view->chunks = spans_.refs();
  std::int64_t reach = INT64_MIN;
  for (SpanChunkRef& ref : view->chunks) ref.reach_ns = reach = std::max(reach, ref.sums.last_end_ns);
  view->count = spans_.count();
  view->forgotten_until_ns = forgotten_until_ns_;
  view_ = std::move(view);
  return view_;
}

std::int64_t LaneColumn::oldest_end_ns() const {
  return spans_.refs().size() > 1 ? spans_.refs().front().sums.last_end_ns : INT64_MAX;
}

LaneColumn::Evicted LaneColumn::evict_oldest() {
  const SpanChunkRef& first = spans_.refs().front();
  // Remaining spans may reach back into the evicted range; what begins before the next chunk is unknown.
  const Evicted evicted{first.first_begin_ns, std::max(first.first_begin_ns, spans_.refs()[1].first_begin_ns),
                        first.count, first.greatest_step};
  spans_.drop_first();
  // A run may last for weeks: the data of steps are evicted together with their spans.
  std::uint32_t least_step = UINT32_MAX;
  for (const SpanChunkRef& ref : spans_.refs()) least_step = std::min(least_step, ref.least_step);
  seen_.forget_before(least_step);
  forgotten_until_ns_ = std::max(forgotten_until_ns_, evicted.end_ns);
  view_.reset();
  return evicted;
}

}  // namespace rankscope
