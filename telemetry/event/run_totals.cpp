#include "telemetry/event/run_totals.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {

void StepTotals::add(const StepSummary& summary, std::int64_t offset_ns) {
  ++ranks;
  begin_ns = std::min(begin_ns, summary.begin_ns + offset_ns);
  end_ns = std::max(end_ns, summary.end_ns + offset_ns);
  // A rank without a head has no tokens either; a NaN from a head that diverged is kept.
  if (!std::isnan(summary.loss) || summary.tokens != 0) {
    weighted_loss += summary.loss * static_cast<double>(summary.tokens);
    tokens += summary.tokens;
  }
  square_norm += summary.gradient_square_norm;
  if (!std::isfinite(learning_rate)) learning_rate = summary.learning_rate;
  loss_scale = std::max(loss_scale, summary.loss_scale);
  loss_not_finite = loss_not_finite || summary.loss_not_finite;
  model_flops += summary.model_flops;
  hardware_flops += summary.hardware_flops;
  if (!summary.magnitudes.empty()) {
    auto sum = magnitudes ? *magnitudes : std::vector<std::int64_t>();  // readers hold the previous totals
    sum.resize(std::max(sum.size(), summary.magnitudes.size()));
    for (std::size_t b = 0; b < summary.magnitudes.size(); ++b) sum[b] += summary.magnitudes[b];
    magnitudes = std::make_shared<const std::vector<std::int64_t>>(std::move(sum));
  }
  if (!summary.energy_joules) return;
  ++energy_ranks;
  joules += *summary.energy_joules;
  if (summary.energy_source == PowerSource::none) return;
  ++counters;
  energy_source = summary.energy_source;
}

double StepTotals::loss() const {
  return tokens > 0 ? weighted_loss / static_cast<double>(tokens) : std::numeric_limits<double>::quiet_NaN();
}

bool StepTotals::skips_update() const { return loss_scale > 0 && !std::isfinite(square_norm); }

void RunTotals::add(const StepSummary& summary, std::int64_t offset_ns) {
  steps.edit(summary.step).add(summary, offset_ns);
  if (summary.loss_not_finite)
    loss_not_finite_since = std::min(loss_not_finite_since.value_or(summary.step), summary.step);
  RankTotals& rank = ranks[summary.rank];
  ++rank.steps;
  for (std::size_t c = 0; c < rank.peak_bytes.size(); ++c)
    rank.peak_bytes[c] = std::max(rank.peak_bytes[c], summary.peak_bytes[c]);
  rank.peak_total_bytes = std::max(rank.peak_total_bytes, summary.peak_total_bytes);
  rank.spans_emitted += summary.spans_emitted;
  rank.spans_dropped += summary.spans_dropped;
  std::int64_t link_bytes = 0, counted = 0;
  for (const SentBytes& link : summary.sent) {
    rank.sent[link.to] += link.bytes;
    link_bytes += link.bytes;
  }
  for (const TrafficRow& row : summary.traffic) {
    if (is_communication(row.kind)) {
      counted += std::max<std::int64_t>(row.wire_bytes, 0);
      rank.links_complete &= row.wire_bytes >= 0;
    }
    if (row.kind == OpKind::receive || row.count == 0) continue;
    TrafficTotals& sum = traffic[{row.purpose, row.kind, row.group}];
    sum.count += row.count;
    sum.payload_bytes = row.payload_bytes < 0 || sum.payload_bytes < 0 ? -1 : sum.payload_bytes + row.payload_bytes;
    sum.wire_bytes += std::max<std::int64_t>(row.wire_bytes, 0);
    sum.opaque |= row.wire_bytes < 0;
    ++sum.rows;
  }
  rank.links_complete &=
      link_bytes == counted;  // false if it was recorded before links existed, or had no space for them
}

double wall_seconds(const StepMap<StepTotals>& steps, std::uint32_t step, std::int32_t ranks) {
  const StepTotals* own = steps.find(step);
  if (own == nullptr || own->ranks != ranks) return std::numeric_limits<double>::quiet_NaN();
  const StepTotals* next = step == UINT32_MAX ? nullptr : steps.find(step + 1);
  const std::int64_t end = next != nullptr && next->ranks == ranks ? next->begin_ns : own->end_ns;
  return static_cast<double>(end - own->begin_ns) * 1e-9;
}

}  // namespace rankscope
