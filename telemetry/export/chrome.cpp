#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "telemetry/export/selection.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope {
namespace {

// Spans of a thread must nest; a span that would cross another is written to another row of the same lane.
constexpr int rows_per_lane = 100;
constexpr int lost_row = 1'000'000;
constexpr int memory_buckets = 4096;

// Microseconds with the nanoseconds after the point, exact where a double would not be.
std::string microseconds(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", negative ? "-" : "", magnitude / 1000, magnitude % 1000);
}

// Unix nanoseconds of "2026-01-31T12:00:00Z"; 0 if the run does not contain it.
std::int64_t unix_ns(const std::string& utc) {
  std::tm time{};
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%d", &year, &month, &day, &hour, &minute, &second) != 6) return 0;
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = day;
  time.tm_hour = hour;
  time.tm_min = minute;
  time.tm_sec = second;
  const std::time_t seconds = timegm(&time);
  return seconds < 0 ? 0 : static_cast<std::int64_t>(seconds) * 1'000'000'000;
}

class ChromeTrace {
 public:
  explicit ChromeTrace(std::ostream& out) : out_(out) {}

  void begin(const StoreView& run) {
    const Hello* hello = run.hello();
    out_ << "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":" << (hello ? unix_ns(hello->started_utc) : 0)
         << ",\"otherData\":{\"title\":" << json_text(hello ? hello->title : "")
         << ",\"ranks\":" << (hello ? hello->ranks : 0) << "},\"traceEvents\":[";
  }
  void end() { out_ << "\n]}\n"; }

  void name_process(int rank) {
    event() << R"({"ph":"M","name":"process_name","pid":)" << rank << R"(,"args":{"name":"rank )" << rank << "\"}}";
    event() << R"({"ph":"M","name":"process_sort_index","pid":)" << rank << R"(,"args":{"sort_index":)" << rank << "}}";
  }
  void name_thread(int rank, int row, const std::string& name) {
    event() << R"({"ph":"M","name":"thread_name","pid":)" << rank << R"(,"tid":)" << row << R"(,"args":{"name":)"
            << json_text(name) << "}}";
    event() << R"({"ph":"M","name":"thread_sort_index","pid":)" << rank << R"(,"tid":)" << row
            << R"(,"args":{"sort_index":)" << row << "}}";
  }
  void span(const Span& span, const std::string& name, int row, Obtained obtained, std::optional<std::int64_t> bytes) {
    const OpId op = span.op;
    event() << R"({"ph":"X","name":)" << json_text(name) << R"(,"cat":")"
            << (op.valid() ? name_of(op.kind()) : "unknown") << R"(","pid":)" << span.rank << R"(,"tid":)" << row
            << R"(,"ts":)" << microseconds(span.begin_ns) << R"(,"dur":)" << microseconds(span.end_ns - span.begin_ns)
            << R"(,"args":{"step":)" << span.step << R"(,"obtained":")" << name_of(obtained) << R"(","waiting_us":)"
            << microseconds(span.active_ns - span.begin_ns);
    if (span.cpu_ns >= 0) out_ << R"(,"cpu_us":)" << microseconds(span.cpu_ns);
    if (bytes) out_ << R"(,"bytes":)" << *bytes;
    out_ << "}}";
  }
  void gap(const Gap& gap, int rank) {
    event() << R"({"ph":"X","name":"unknown: data is missing","cat":"lost","pid":)" << rank << R"(,"tid":)" << lost_row
            << R"(,"ts":)" << microseconds(gap.begin_ns) << R"(,"dur":)" << microseconds(gap.end_ns - gap.begin_ns)
            << R"(,"args":{"events":)" << gap.events << "}}";
  }
  void memory(const MemorySample& sample, Obtained obtained) {
    event() << R"({"ph":"C","name":"memory, )" << name_of(obtained) << R"(","pid":)" << sample.rank << R"(,"ts":)"
            << microseconds(sample.time_ns) << R"(,"args":{)";
    for (int c = 0; c < memory_class_count; ++c)
      out_ << (c > 0 ? ",\"" : "\"") << name_of(static_cast<MemoryClass>(c))
           << "\":" << sample.bytes[static_cast<std::size_t>(c)];
    out_ << "}}";
  }

 private:
  std::ostream& event() {
    out_ << (first_ ? "\n" : ",\n");
    first_ = false;
    return out_;
  }
  std::ostream& out_;
  bool first_ = true;
};

// The rows that one lane needs so that spans nest in each: per row, the ends of the open spans.
class Rows {
 public:
  int row_of(const Span& span) {
    for (std::size_t i = 0;; ++i) {
      if (i == open_.size()) open_.emplace_back();
      auto& ends = open_[i];
      while (!ends.empty() && ends.back() <= span.begin_ns) ends.pop_back();
      if (ends.empty() || span.end_ns <= ends.back() || i + 1 == rows_per_lane) {
        ends.push_back(span.end_ns);
        return static_cast<int>(i);
      }
    }
  }

 private:
  std::vector<std::vector<std::int64_t>> open_;
};

// If two begin together, the longer is first: it is the outer one.
void outer_first(std::vector<Span>& spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
}

}  // namespace

void export_chrome(const StoreView& run, std::ostream& out, const ExportOptions& options) {
  ChromeTrace trace(out);
  trace.begin(run);
  int named = -1;
  for (const LaneKey& lane : lanes_of(run, options)) {
    if (lane.rank != named) {
      named = lane.rank;
      trace.name_process(named);
      bool lost = false;
      for (const int of : {lane.rank, -1})
        for (const Gap& gap : run.gaps(of)) {
          if (!lost) trace.name_thread(named, lost_row, "lost");
          lost = true;
          trace.gap(gap, named);
        }
    }
    const int first_row = (static_cast<int>(lane.obtained) * lane_count + static_cast<int>(lane.lane)) * rows_per_lane;
    const std::string name = name_of_lane(run, lane.rank, lane.lane) + " (" + std::string(name_of(lane.obtained)) + ")";
    Rows rows;
    int rows_named = 0;
    auto spans = run.spans(lane, range_of(run, lane.obtained, options), 0, SIZE_MAX);
    outer_first(spans);
    for (const Span& span : spans) {
      const int row = rows.row_of(span);
      for (; rows_named <= row; ++rows_named)
        trace.name_thread(lane.rank, first_row + rows_named,
                          rows_named == 0 ? name : fmt::format("{}, overlapping {}", name, rows_named));
      trace.span(span, name_of_op(run, span.rank, span.op), first_row + row, lane.obtained,
                 options.bytes ? options.bytes(span.rank, span.op) : std::nullopt);
    }
    if (!is_compute(lane.lane)) continue;
    const auto range = range_of(run, lane.obtained, options);
    for (const MemorySample& sample : run.memory(lane.rank, lane.obtained, range, memory_buckets))
      trace.memory(sample, lane.obtained);
  }
  trace.end();
}

}  // namespace rankscope
