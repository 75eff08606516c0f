#include <cmath>

#include "flatbuffers/util.h"
#include "telemetry/event/wire_event.hpp"

namespace rankscope {
namespace {

using wire::greatest_bytes;
using wire::greatest_time_ns;
using wire::known;
using wire::Refusal;
using wire::require;
using wire::time_in_range;
using wire::within;

constexpr std::size_t most_links = 44;           // in recordings older than the energy in summaries
constexpr std::size_t least_memory_classes = 5;  // others were added later

std::string text_of(const flatbuffers::String* text) {
  if (!text) return {};
  const char* end = text->c_str() + text->size();
  for (const char* at = text->c_str(); at < end;)
    if (flatbuffers::FromUTF8(&at) < 0 || at > end) throw Refusal{"text is not UTF-8"};
  return {text->c_str(), end};
}

Event read(const wire::Hello& t, const DecodeLimits& limits) {
  Hello e;
  e.title = text_of(t.title());
  e.scenario_toml = text_of(t.scenario_toml());
  e.ranks = static_cast<std::int32_t>(within(t.ranks(), 0, limits.ranks, "ranks"));
  e.communicator = text_of(t.communicator());
  e.device = text_of(t.device());
  e.host = text_of(t.host());
  e.started_utc = text_of(t.started_utc());
  e.steps = static_cast<std::int32_t>(within(t.steps(), 0, INT32_MAX, "steps"));
  e.headline = known(t.headline(), ClockDomain::device);
  e.entropy_nats = t.entropy_nats();
  e.peak_flops = t.peak_flops();
  e.energy_unknown = text_of(t.energy_unknown());
  e.memory_bandwidth = t.memory_bandwidth();
  e.peak_spread = t.peak_spread();
  return e;
}

std::int32_t rank_in_range(std::int64_t rank, const DecodeLimits& limits, std::int64_t least = 0) {
  return static_cast<std::int32_t>(within(rank, least, limits.ranks - 1, "rank"));
}

Event read(const wire::Program& t, const DecodeLimits& limits) {
  return ProgramRecord{rank_in_range(t.rank(), limits), t.hash(), text_of(t.text())};
}

Event read(const wire::Clock& t, const DecodeLimits& limits) {
  return ClockRecord{rank_in_range(t.rank(), limits), time_in_range(t.at_ns()), time_in_range(t.offset_ns()),
                     within(t.uncertainty_ns(), -1, greatest_time_ns, "uncertainty")};
}

Event read(const wire::End& t, const DecodeLimits& limits) {
  return End{rank_in_range(t.rank(), limits, -1),
             t.ok(),
             within(t.last_step(), -1, UINT32_MAX, "last step"),
             text_of(t.message()),
             t.in_communication(),
             rank_in_range(t.failed_rank(), limits, -1)};
}

Event read(const wire::Summary& t, const DecodeLimits& limits) {
  StepSummary e;
  e.rank = rank_in_range(t.rank(), limits);
  e.step = t.step();
  e.begin_ns = time_in_range(t.begin_ns());
  e.end_ns = within(t.end_ns(), e.begin_ns, greatest_time_ns, "end of a step");
  e.loss = t.loss();
  e.gradient_square_norm = t.gradient_square_norm();
  e.learning_rate = t.learning_rate();
  e.tokens = within(t.tokens(), 0, greatest_bytes, "tokens");
  e.model_flops = t.model_flops();
  e.hardware_flops = t.hardware_flops();
  if (const auto* peaks = t.peak_bytes()) {
    require(peaks->size() >= least_memory_classes, "too few memory classes");
    for (std::size_t k = 0; k < std::min<std::size_t>(peaks->size(), e.peak_bytes.size()); ++k)
      e.peak_bytes[k] = within(peaks->Get(static_cast<flatbuffers::uoffset_t>(k)), 0, greatest_bytes, "peak");
  }
  e.peak_total_bytes = within(t.peak_total_bytes(), 0, greatest_bytes, "peak");
  if (const auto* traffic = t.traffic()) {
    require(traffic->size() <= 256 * 256, "too many traffic rows");
    e.traffic.reserve(traffic->size());
    for (const wire::TrafficRow* row : *traffic) {
      if (row->purpose() >= purpose_count || row->kind() >= op_kind_count || row->group() >= group_kind_count)
        continue;  // of a newer build
      e.traffic.push_back({static_cast<Purpose>(row->purpose()), static_cast<OpKind>(row->kind()),
                           within(row->count(), 0, greatest_bytes, "count"),
                           within(row->payload_bytes(), -1, greatest_bytes, "payload"),
                           within(row->wire_bytes(), -1, greatest_bytes, "wire bytes"),
                           static_cast<GroupKind>(row->group())});
    }
  }
  if (const auto* sent = t.sent()) {
    require(sent->size() <= most_links, "too many links");
    for (const wire::SentBytes* link : *sent)
      e.sent.push_back({rank_in_range(link->to(), limits, 0), within(link->bytes(), 0, greatest_bytes, "sent bytes")});
  }
  if (const auto* magnitudes = t.magnitudes()) {
    require(magnitudes->size() <= most_magnitudes, "too many magnitudes");
    e.magnitudes.assign(magnitudes->begin(), magnitudes->end());
  }
  e.loss_scale = t.loss_scale();
  e.loss_not_finite = t.loss_not_finite();
  if (t.energy_joules() >= 0 && std::isfinite(t.energy_joules())) e.energy_joules = t.energy_joules();
  if (t.energy_source() <=
      static_cast<std::uint8_t>(PowerSource::rapl))  // joules of an op kind added later are joules as well
    e.energy_source = static_cast<PowerSource>(t.energy_source());
  e.spans_emitted = within(t.spans_emitted(), 0, greatest_bytes, "spans emitted");
  e.spans_dropped = within(t.spans_dropped(), 0, greatest_bytes, "spans dropped");
  return e;
}

Event read(const wire::Gap& t, const DecodeLimits& limits) {
  Gap e;
  e.rank = rank_in_range(t.rank(), limits, -1);
  e.begin_ns = time_in_range(t.begin_ns());
  e.end_ns = within(t.end_ns(), e.begin_ns, greatest_time_ns, "end of a gap");
  e.events = within(t.events(), 0, greatest_bytes, "events");
  e.first_sequence = t.first_sequence();
  e.last_sequence = t.last_sequence();
  require(e.first_sequence <= e.last_sequence, "a gap that ends before it begins");
  return e;
}

template <class Table>
Event read_present(const Table* table, const DecodeLimits& limits) {
  require(table != nullptr, "no event");
  return read(*table, limits);
}

}  // namespace

namespace wire {

rankscope::Event read_single(const Message& m, const DecodeLimits& limits) {
  switch (kind_of(m)) {
    case EventKind::hello: return read_present(m.event_as_Hello(), limits);
    case EventKind::program: return read_present(m.event_as_Program(), limits);
    case EventKind::clock: return read_present(m.event_as_Clock(), limits);
    case EventKind::end: return read_present(m.event_as_End(), limits);
    case EventKind::summary: return read_present(m.event_as_Summary(), limits);
    case EventKind::gap: return read_present(m.event_as_Gap(), limits);
    case EventKind::spans:
    case EventKind::memory:
    case EventKind::phases: break;
  }
  throw Refusal{"an unexpected batch"};
}

}  // namespace wire
}  // namespace rankscope
