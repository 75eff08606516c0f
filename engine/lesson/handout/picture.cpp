#include "engine/lesson/handout/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/lesson/handout/markdown.hpp"
#include "engine/lesson/handout/words.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {
namespace {

// The light theme's colours, so that a picture on paper looks like the window.
constexpr std::array<std::string_view, span_class_count> class_colours = {"#0d8ad7", "#6b3009", "#887f1b", "#3c414e",
                                                                          "#147254", "#440099", "#de5881", "#0f0f0f"};
constexpr std::array<std::string_view, span_class_count> class_names = {
    "forward", "backward", "weight gradient", "recompute", "send, receive", "collective", "optimizer", "other"};
constexpr std::array<std::string_view, memory_class_count> memory_colours = {
    "#3c414e", "#6b3009", "#de5881", "#0d8ad7", "#147254", "#440099", "#3333ff", "#885588", "#2a63d6"};

constexpr int width = 720, left_margin = 64, right_margin = 12, drawn = width - left_margin - right_margin;
constexpr int most_rows = 16;
constexpr double least_shift = 0.7;  ///< of a box's end after the previous one: less is not visible
constexpr std::string_view ink = "#1b2430", faint = "#d5d9e0", soft = "#566172";

std::string opened(int height, const std::string& words) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" aria-label=\"{2}\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"11\">"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      width, height, escaped_html(words));
}

std::string label(double x, double y, std::string_view anchor, std::string_view text, std::string_view colour = ink) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y, anchor, colour,
                     escaped_html(text));
}

std::string box(double x, double y, double w, double h, std::string_view fill) {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, w, h,
                     fill);
}

/// The nearest of 1, 2, 5 times a power of ten that divides `whole` into about this number of parts.
double round_step(double whole, int parts) {
  const double rough = whole / parts, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= rough) return m * power;
  return 10 * power;
}

struct TimeUnit {
  double ns;
  std::string_view name;
};
TimeUnit unit_of(std::int64_t length_ns) {
  if (length_ns >= 2'000'000'000) return {1e9, "s"};
  return length_ns >= 2'000'000 ? TimeUnit{1e6, "ms"} : TimeUnit{1e3, "µs"};
}

class TimeScale {
 public:
  TimeScale(TimeRange range, std::string language) : range_(range), language_(std::move(language)) {}
  double x(std::int64_t ns) const {
    const double share = static_cast<double>(ns - range_.begin_ns) / static_cast<double>(range_.length());
    return left_margin + drawn * std::clamp(share, 0.0, 1.0);
  }
  std::string axis(double top, double bottom) const {
    const TimeUnit unit = unit_of(range_.length());
    const double whole = static_cast<double>(range_.length()) / unit.ns, step = round_step(whole, 8);
    std::string svg;
    for (double at = 0; at <= whole * (1 + 1e-9); at += step) {
      const double place = left_margin + drawn * at / whole;
      svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n", place,
                         top, bottom, faint);
      svg += label(place, bottom + 14, "middle", fmt::format("{:.6g}", at), soft);
    }
    return svg + label(width - right_margin, bottom + 28, "end",
                       fmt::format(fmt::runtime(handout_words("time from the step's begin, {}", language_)), unit.name),
                       soft);
  }

 private:
  TimeRange range_;
  std::string language_;
};

/// A box of one row in one colour: adjacent ops of one chunk and micro-batch.
struct Stretch {
  std::int64_t begin_ns = 0, end_ns = 0;
  SpanClass kind = SpanClass::other;
  int micro_batch = -1;
  OpId id;
};

/// Of a rank's compute lane, or of all its other lanes.
std::vector<Stretch> stretches_of(const DrawnStep& step, int rank, bool compute) {
  std::vector<Span> spans;
  for (const Span& span : step.spans) {
    if (span.rank != rank || !span.op.valid() || is_compute(span.op.lane()) != compute) continue;
    if (span.end_ns > step.range.begin_ns && span.begin_ns < step.range.end_ns) spans.push_back(span);
  }
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  const std::int64_t touching = step.range.length() / drawn / 2;
  std::vector<Stretch> stretches;
  for (const Span& span : spans) {
    // The wait of a message for its peer is not transfer time.
    Stretch one{compute ? span.begin_ns : span.active_ns, span.end_ns, class_of(span.op), span.op.fields().micro_batch,
                folded_to_chunk(span.op)};
    if (!stretches.empty() && stretches.back().id == one.id && one.begin_ns - stretches.back().end_ns <= touching)
      stretches.back().end_ns = std::max(stretches.back().end_ns, one.end_ns);
    else
      stretches.push_back(one);
  }
  return stretches;
}

std::string legend(double y, const std::vector<std::pair<std::string_view, std::string_view>>& entries) {
  std::string svg;
  double x = left_margin;
  for (const auto& [colour, name] : entries) {
    svg += box(x, y - 9, 10, 10, colour) + label(x + 14, y, "start", name);
    x += 32 + 6.6 * static_cast<double>(name.size());
  }
  return svg;
}

const char* bytes_unit(double most, double& scale) {
  if (most >= 4e9) return scale = 1.0 / (1 << 30), "GiB";
  if (most >= 4e6) return scale = 1.0 / (1 << 20), "MiB";
  return scale = 1.0 / 1024, "KiB";
}

/// Of each half pixel the greatest level and the last one: more is not visible.
std::vector<MemorySample> thinned(const std::vector<MemorySample>& levels, const TimeScale& time) {
  std::vector<MemorySample> kept;
  for (std::size_t begin = 0, end = 0; begin < levels.size(); begin = end) {
    const auto column = [&](std::size_t i) { return static_cast<int>(time.x(levels[i].time_ns) * 2); };
    std::size_t greatest = begin;
    for (end = begin; end < levels.size() && column(end) == column(begin); ++end)
      if (device_sum(levels[end].bytes) > device_sum(levels[greatest].bytes)) greatest = end;
    kept.push_back(levels[greatest]);
    if (greatest + 1 < end) kept.push_back(levels[end - 1]);
  }
  return kept;
}

/// Horizontal lines from 0 to `most`, with about this many numbers, and the unit.
std::string value_axis(double most, int about, int top, int bottom, std::string_view unit) {
  std::string svg;
  const double tick = round_step(most, about);
  for (double at = 0; at <= most * (1 + 1e-9); at += tick) {
    const double y = bottom - (bottom - top) * at / most;
    svg += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n", left_margin,
                       width - right_margin, y, faint);
    svg += label(left_margin - 8, y + 4, "end", fmt::format("{:.6g}", at), soft);
  }
  return svg + label(8, top + 4, "start", unit, soft);
}

/// The device's classes, without the host, whose memory is separate.
bool is_device(int c) { return static_cast<MemoryClass>(c) != MemoryClass::host; }

}  // namespace

Picture draw_timeline(const DrawnStep& step) {
  constexpr int row = 26, top = 8;
  const int rows = std::min(step.ranks, most_rows), bottom = top + rows * row;
  const TimeScale time(step.range, step.language);
  std::string body = time.axis(top, bottom);
  std::array<bool, span_class_count> seen{};
  for (int rank = 0; rank < rows; ++rank) {
    const double y = top + rank * row;
    body +=
        label(left_margin - 8, y + 14, "end", fmt::format(fmt::runtime(handout_words("rank {}", step.language)), rank));
    body += box(left_margin, y + 3, drawn, 14, "#f3f4f6");
    for (const bool compute : {true, false}) {
      const double top_of = compute ? y + 3 : y + 19, high = compute ? 14 : 4;
      std::array<std::string, span_class_count> boxes;  // one path for each colour: a step may have thousands
      std::string numbers;
      double drawn_to = -1;
      for (const Stretch& one : stretches_of(step, rank, compute)) {
        const auto kind = static_cast<std::size_t>(one.kind);
        const double x = time.x(one.begin_ns), w = std::max(time.x(one.end_ns) - x, 0.4);
        if (x + w < drawn_to + least_shift) continue;
        drawn_to = x + w;
        seen[kind] = true;
        boxes[kind] += fmt::format("M{:.1f} {:.0f}h{:.1f}v{:.0f}h-{:.1f}z", x, top_of, w, high, w);
        if (compute && one.micro_batch >= 0 && w > 7 * static_cast<double>(std::to_string(one.micro_batch).size()))
          numbers += label(x + w / 2, y + 14, "middle", std::to_string(one.micro_batch), "#fff");
      }
      for (std::size_t kind = 0; kind < boxes.size(); ++kind)
        if (!boxes[kind].empty())
          body += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", class_colours[kind], boxes[kind]);
      body += numbers;
    }
  }
  std::vector<std::pair<std::string_view, std::string_view>> names;
  for (std::size_t c = 0; c < seen.size(); ++c)
    if (seen[c]) names.emplace_back(class_colours[c], handout_words(class_names[c], step.language));
  body += legend(bottom + 46, names);
  const auto words = [&](std::string_view english, const auto&... of) {
    return fmt::format(fmt::runtime(handout_words(english, step.language)), of...);
  };
  Picture picture;
  picture.name = "timeline";
  picture.caption = words("Time line of a step{}; {}. A number is the micro-batch; the thin boxes move bytes.",
                          step.ranks > rows ? words(", the first {} of {} ranks", rows, step.ranks) : "", step.note);
  picture.svg = opened(bottom + 56, picture.caption) + body + "</svg>\n";
  return picture;
}

Picture draw_memory(const DrawnStep& step) {
  constexpr int top = 10, high = 150, bottom = top + high;
  std::map<int, std::int64_t> peaks;
  for (const MemorySample& sample : step.samples)
    if (sample.time_ns < step.range.end_ns) peaks[sample.rank] = std::max(peaks[sample.rank], device_sum(sample.bytes));
  Picture picture;
  picture.name = "memory";
  if (peaks.empty()) return picture;
  const auto greatest = std::ranges::max_element(peaks, [](auto& a, auto& b) { return a.second < b.second; });
  double scale = 1;
  const char* unit = bytes_unit(static_cast<double>(greatest->second), scale);
  const double most = static_cast<double>(greatest->second) * scale * 1.05;
  const TimeScale time(step.range, step.language);
  const auto y_of = [&](double bytes) { return bottom - high * bytes * scale / most; };

  // Live bytes from each time on; the last value before the range is valid at its begin.
  std::vector<MemorySample> levels;
  for (const MemorySample& sample : step.samples) {
    if (sample.rank != greatest->first || sample.time_ns >= step.range.end_ns) continue;
    if (sample.time_ns <= step.range.begin_ns) levels.clear();
    levels.push_back(sample);
  }
  levels = thinned(levels, time);
  std::string body = time.axis(top, bottom) + value_axis(most, 5, top, bottom, unit);
  std::vector<double> under(levels.size(), 0);
  std::vector<std::pair<std::string_view, std::string_view>> names;
  for (int c = 0; c < memory_class_count; ++c) {
    if (!is_device(c) || std::ranges::all_of(levels, [&](const MemorySample& s) { return s.bytes[c] == 0; })) continue;
    names.emplace_back(memory_colours[c], handout_words(name_of(static_cast<MemoryClass>(c)), step.language));
    std::string over, back;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double from = i == 0 ? left_margin : time.x(levels[i].time_ns);
      const double to = i + 1 < levels.size() ? time.x(levels[i + 1].time_ns) : width - right_margin;
      const double low = y_of(under[i]);
      under[i] += static_cast<double>(levels[i].bytes[c]);
      const double up = y_of(under[i]);
      over += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", from, up, to, up);
      back.insert(0, fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", to, low, from, low));
    }
    body += fmt::format("<polygon points=\"{}{}\" fill=\"{}\"/>\n", over, back, memory_colours[c]);
  }
  body += legend(bottom + 46, names);
  picture.caption =
      fmt::format(fmt::runtime(handout_words("Memory of rank {} by class{}; {}.", step.language)), greatest->first,
                  peaks.size() > 1 ? handout_words(", the rank with the highest peak", step.language) : "", step.note);
  picture.svg = opened(bottom + 56, picture.caption) + body + "</svg>\n";
  return picture;
}

std::string draw_field(std::size_t count, double most, const std::string& unit, const std::string& word,
                       const std::vector<double>& values, const std::string& description) {
  constexpr int top = 10, high = 140, bottom = top + high;
  std::string svg = opened(bottom + 36, description) + value_axis(most, 8, top, bottom, unit);
  const double place = static_cast<double>(drawn) / static_cast<double>(std::max<std::size_t>(count, 1));
  const std::size_t every = std::max<std::size_t>(1, count / 16);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = left_margin + place * static_cast<double>(i);
    if (i % every == 0) {
      svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"{3}\"/>\n", x, top, bottom,
                         faint);
      svg += label(x + place / 2, bottom + 14, "middle", std::to_string(i), soft);
    }
    if (i >= values.size() || !std::isfinite(values[i])) continue;
    const double y = bottom - high * std::clamp(values[i] / most, 0.0, 1.0);
    svg += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2.5\"/>\n", x,
        x + place, y, y, class_colours[0]);
  }
  return svg + label(width - right_margin, bottom + 28, "end", word, soft) + "</svg>\n";
}

}  // namespace rankscope
