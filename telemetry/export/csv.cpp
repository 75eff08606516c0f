#include "telemetry/export/selection.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope {
namespace {

/// Within quotes where a comma or a quote would end it (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

void export_csv(const StoreView& run, std::ostream& out, const ExportOptions& options) {
  out << "rank,lane,obtained,step,op,kind,purpose,begin_ns,active_ns,end_ns,cpu_ns\n";
  for (const LaneKey& lane : lanes_of(run, options)) {
    const TimeRange range = range_of(run, lane.obtained, options);
    for (const Span& span : run.spans(lane, range, 0, SIZE_MAX)) {
      const bool known = span.op.valid();
      const OpFields fields = known ? span.op.fields() : OpFields{};
      out << span.rank << ',' << field(name_of_lane(run, span.rank, lane.lane)) << ',' << name_of(lane.obtained) << ','
          << span.step << ',' << field(name_of_op(run, span.rank, span.op)) << ','
          << (known ? name_of(fields.kind) : "unknown") << ',' << (known ? name_of(fields.purpose) : "unknown") << ','
          << span.begin_ns << ',' << span.active_ns << ',' << span.end_ns << ',';
      if (span.cpu_ns >= 0) out << span.cpu_ns;  // empty: unknown
      out << '\n';
    }
  }
}

}  // namespace rankscope
