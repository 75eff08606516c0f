// Sums spans into pixel columns: complete pyramid nodes within a column, single spans at the borders.
#include <algorithm>

#include "telemetry/store/lane_query.hpp"

namespace rankscope {
namespace {

constexpr std::size_t channels = span_class_count + 1;  // the busy classes and waiting
constexpr std::size_t waiting_channel = span_class_count;

class Columns {
 public:
  Columns(TimeRange range, std::span<PixelShare> pixels)
      : range_(range),
        pixels_(pixels),
        count_(static_cast<double>(pixels.size())),
        scale_(count_ / static_cast<double>(range.length())) {}

  /// Adds sums over spans in [begin, end) to their column, if it is a single one.
  bool put_whole(std::int64_t begin, const SpanSums& sums) {
    if (begin < range_.begin_ns || sums.last_end_ns > range_.end_ns) return false;
    const auto p = static_cast<std::size_t>(at(begin));
    if (p >= pixels_.size() || at(sums.last_end_ns) > static_cast<double>(p + 1)) return false;
    PixelShare& pixel = pixels_[p];
    const auto scale = static_cast<float>(scale_);
    for (std::size_t k = 0; k < span_class_count; ++k) pixel.busy[k] += sums.busy_ns[k] * scale;
    pixel.waiting += sums.waiting_ns * scale;
    return true;
  }

  void put(std::int64_t begin, std::int64_t end, std::size_t channel) {
    begin = std::max(begin, range_.begin_ns);
    end = std::min(end, range_.end_ns);
    if (end <= begin) return;
    const double from = at(begin), to = std::min(at(end), count_);
    const auto p = static_cast<std::size_t>(from), q = static_cast<std::size_t>(to);
    if (p >= pixels_.size()) return;
    if (p == q) {
      share(p, channel) += static_cast<float>(to - from);
      return;
    }
    share(p, channel) += static_cast<float>(static_cast<double>(p + 1) - from);
    if (q < pixels_.size()) share(q, channel) += static_cast<float>(to - static_cast<double>(q));
    if (q - p > long_run) {
      // Many nested long spans must not cost spans × pixels: only the ends of a run are stored.
      if (runs_.empty()) runs_.resize((pixels_.size() + 1) * channels);
      runs_[(p + 1) * channels + channel] += 1;
      runs_[q * channels + channel] -= 1;
    } else {
      for (std::size_t i = p + 1; i < q; ++i) share(i, channel) += 1;
    }
  }

  void finish() {
    if (runs_.empty()) return;
    std::array<float, channels> covered{};
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      for (std::size_t k = 0; k < channels; ++k) {
        covered[k] += runs_[i * channels + k];
        share(i, k) += covered[k];
      }
  }

 private:
  static constexpr std::size_t long_run = 32;
  double at(std::int64_t time) const { return static_cast<double>(time - range_.begin_ns) * scale_; }
  float& share(std::size_t pixel, std::size_t channel) {
    return channel == waiting_channel ? pixels_[pixel].waiting : pixels_[pixel].busy[channel];
  }

  TimeRange range_;
  std::span<PixelShare> pixels_;
  double count_, scale_;
  std::vector<float> runs_;  // integers, so sums and differences are exact
};

void put_span(const SpanChunk& chunk, std::uint32_t i, Columns& columns) {
  const SpanClass kind = chunk.op(i).kind;
  const std::int64_t begin = chunk.begin(i);
  std::int64_t active = begin;
  if (may_wait(kind)) {
    active = begin + chunk.wait(i);
    columns.put(begin, active, waiting_channel);
  }
  columns.put(active, chunk.end(i), static_cast<std::size_t>(kind));
}

void put_chunk(const SpanChunk& chunk, std::uint32_t count, TimeRange range, Columns& columns) {
  // True if nothing of the node remains to be added.
  const auto settled = [&](std::uint32_t first, const SpanSums& sums) {
    return sums.last_end_ns <= range.begin_ns || columns.put_whole(chunk.begin(first), sums);
  };
  for (std::uint32_t i = 0; i < count;) {
    if (chunk.begin(i) >= range.end_ns) return;
    if (i % SpanChunk::group == 0 && i + SpanChunk::group <= count &&
        settled(i, chunk.group_sums(i / SpanChunk::group))) {
      i += SpanChunk::group;
      continue;
    }
    const std::uint32_t stop = std::min(count, i + SpanChunk::fan_out);
    if (stop - i < SpanChunk::fan_out || !settled(i, chunk.sixteen(i / SpanChunk::fan_out)))
      for (std::uint32_t k = i; k < stop; ++k) put_span(chunk, k, columns);
    i = stop;
  }
}

}  // namespace

void add_shares(const LaneView& lane, TimeRange range, std::span<PixelShare> pixels) {
  if (range.empty() || pixels.empty()) return;
  Columns columns(range, pixels);
  auto ref = std::partition_point(lane.chunks.begin(), lane.chunks.end(),
                                  [&](const SpanChunkRef& r) { return r.reach_ns <= range.begin_ns; });
  for (; ref != lane.chunks.end() && ref->first_begin_ns < range.end_ns; ++ref)
    if (ref->sums.last_end_ns > range.begin_ns && !columns.put_whole(ref->first_begin_ns, ref->sums))
      put_chunk(*ref->chunk, ref->count, range, columns);
  columns.finish();
}

}  // namespace rankscope
