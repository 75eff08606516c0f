#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "telemetry/export/selection.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope {
namespace {

// In the analysis stream -1 is the host, and in places it only checks whether a stream is above 0.
constexpr int first_stream = 1;
constexpr int host_process = 100'000;  // added to the rank: the process of everything that is not a kernel

std::int64_t whole_microseconds(std::int64_t ns) { return ns >= 0 ? ns / 1000 : -((999 - ns) / 1000); }

// The analysis classifies kernels by name: NCCL's begin with "nccl" and contain "Kernel", copies begin with "Memcpy",
// everything else is compute. All micro-batches and blocks share one name, as kernels do.
std::string kernel_name(OpId op, const std::string& name_in_run) {
  if (!op.valid()) return "unknown";
  if (op.is_observed() && !moves_bytes(op.kind())) return name_in_run;
  const OpFields fields = op.fields();
  std::string name(name_of(fields.kind));
  if (fields.purpose != Purpose::none) name += "." + std::string(name_of(fields.purpose));
  if (fields.segment != Segment::whole) name += "." + std::string(name_of(fields.segment));
  if (is_communication(fields.kind)) return "ncclKernel_" + name;
  if (fields.kind == OpKind::copy) return "Memcpy " + name;
  return name;
}

class ProfilerTrace {
 public:
  ProfilerTrace(std::ostream& out, int rank, int ranks) : out_(out), rank_(rank) {
    // The analysis finds the rank by searching "rank": with a space after it.
    out_ << "{\n\"schemaVersion\": 1,\n\"distributedInfo\": {\"backend\": \"rankscope\", \"rank\": " << rank
         << ", \"world_size\": " << ranks << "},\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [";
  }
  void end() { out_ << "\n]}\n"; }

  /// `token`: the op's, or its name in an imported run.
  void op(const Span& span, const std::string& token, int stream, Obtained obtained,
          std::optional<std::int64_t> bytes) {
    const int correlation = ++correlations_;
    const bool moves = span.op.valid() && is_communication(span.op.kind());
    // A communication waits for its peers within its kernel, as NCCL's do; compute does not.
    const std::int64_t begin = whole_microseconds(moves ? span.begin_ns : span.active_ns);
    const std::int64_t end = std::max(begin, whole_microseconds(span.end_ns));
    event("cpu_op", token, host_process + rank_, stream, whole_microseconds(span.begin_ns), end);
    out_ << ",\"args\":{\"External id\":" << correlation << ",\"correlation\":" << correlation << "}}";
    event("kernel", kernel_name(span.op, token), rank_, stream, begin, end);
    out_ << ",\"args\":{\"device\":" << rank_ << ",\"stream\":" << stream << ",\"External id\":" << correlation
         << ",\"correlation\":" << correlation << ",\"op\":" << json_text(token) << ",\"step\":" << span.step
         << ",\"obtained\":\"" << name_of(obtained) << "\"";
    if (bytes) out_ << ",\"bytes\":" << *bytes;
    out_ << "}}";
  }
  void step(std::uint32_t number, std::int64_t begin_ns, std::int64_t end_ns) {
    event("user_annotation", fmt::format("ProfilerStep#{}", number), host_process + rank_, 0,
          whole_microseconds(begin_ns), whole_microseconds(end_ns));
    out_ << ",\"args\":{}}";
  }

 private:
  void event(const char* category, const std::string& name, int process, int thread, std::int64_t begin,
             std::int64_t end) {
    out_ << (first_ ? "\n" : ",\n") << R"({"ph":"X","cat":")" << category << R"(","name":)" << json_text(name)
         << R"(,"pid":)" << process << R"(,"tid":)" << thread << R"(,"ts":)" << begin << R"(,"dur":)" << end - begin;
    first_ = false;
  }

  std::ostream& out_;
  const int rank_;
  int correlations_ = 0;
  bool first_ = true;
};

/// A step's ops on one rank.
struct StepOps {
  std::optional<std::int64_t> computes_ns;  ///< begin of the first on the compute lane
  TimeRange time;                           ///< of all lanes
};

/// The steps' ranges as a profiler has them, which never overlap: each ends where the next one begins to compute. What
/// the lanes of communication do for the next step before that counts for the earlier one, as with a profiler.
std::map<std::uint32_t, TimeRange> without_overlaps(const std::map<std::uint32_t, StepOps>& steps) {
  std::map<std::uint32_t, TimeRange> ranges;
  TimeRange* earlier = nullptr;
  for (const auto& [number, ops] : steps) {
    std::int64_t begin = ops.time.begin_ns;
    if (earlier) begin = std::max(earlier->begin_ns, ops.computes_ns.value_or(begin));
    if (earlier) earlier->end_ns = begin;
    earlier = &ranges.emplace_hint(ranges.end(), number, TimeRange{begin, std::max(begin, ops.time.end_ns)})->second;
  }
  return ranges;
}

}  // namespace

void export_profiler(const StoreView& run, int rank, std::ostream& out, const ExportOptions& options) {
  const Hello* hello = run.hello();
  ProfilerTrace trace(out, rank, hello != nullptr ? hello->ranks : 0);
  std::map<std::uint32_t, StepOps> steps;
  for (const LaneKey& lane : lanes_of(run, options)) {
    if (lane.rank != rank) continue;
    const int stream = first_stream + static_cast<int>(lane.lane);
    for (const Span& span : run.spans(lane, range_of(run, lane.obtained, options), 0, SIZE_MAX)) {
      trace.op(span, name_of_op(run, rank, span.op), stream, lane.obtained,
               options.bytes ? options.bytes(rank, span.op) : std::nullopt);
      const TimeRange time{span.begin_ns, span.end_ns};
      StepOps& step = steps.try_emplace(span.step, StepOps{{}, time}).first->second;
      step.time.include(time);
      if (is_compute(lane.lane)) step.computes_ns = std::min(step.computes_ns.value_or(span.begin_ns), span.begin_ns);
    }
  }
  for (const auto& [number, range] : without_overlaps(steps)) trace.step(number, range.begin_ns, range.end_ns);
  trace.end();
}

}  // namespace rankscope
