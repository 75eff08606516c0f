#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/explain/analyse/figure_json.hpp"
#include "engine/explain/analyse/magnitudes.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "kernels/tensor/magnitude.hpp"

namespace rankscope {
namespace {

using Json = nlohmann::json;

using figure::known;

/// Every key of the table [plan].
Json plan_json(const PlanSpec& plan) {
  Scenario scenario;
  scenario.plan = plan;
  Json json;
  for (const Key& key : scenario_keys())
    if (key.is_of_plan() && !key.only_read)
      json[std::string(key.name)] = std::visit(
          [](const auto* value) -> Json {
            if constexpr (requires { value->has_value(); })
              return *value ? Json(**value) : Json(nullptr);
            else if constexpr (requires { value->names(); })
              return value->name();
            else
              return *value;
          },
          key.field(scenario));
  return json;
}

Json bubble_json(const Bubble& bubble) {
  return {{"ideal", known(bubble.ideal)}, {"predicted", known(bubble.predicted)}, {"measured", known(bubble.measured)}};
}

void put_memory(Json& to, const std::optional<MemoryBytes>& bytes) {
  for (int c = 0; c < memory_class_count; ++c) {
    const auto memory = static_cast<MemoryClass>(c);
    to[std::string(name_of(memory))] = bytes ? Json(bytes->by_class[c]) : Json(nullptr);
  }
  to["peak"] = bytes ? Json(bytes->peak) : Json(nullptr);
}

Json device_json(const std::optional<DeviceFit>& device) {
  if (!device) return nullptr;
  return {{"bytes", device->bytes},   {"context", device->context}, {"allocator_slack", device->slack},
          {"needed", device->needed}, {"rank", device->rank},       {"fits", device->fits()}};
}

Json energy_json(const EnergyReport& energy) {
  const bool is_known = energy.source != PowerSource::none;
  return {{"source", is_known ? Json(name_of(energy.source)) : Json(nullptr)},
          {"counters", is_known ? Json(energy.counters) : Json(nullptr)},
          {"joules_per_step", known(energy.joules_per_step)},
          {"watts", known(energy.watts)},
          {"predicted_watts", known(energy.predicted_watts)},
          {"joules_per_token", known(energy.joules_per_token)},
          {"unknown", energy.unknown.empty() ? Json(nullptr) : Json(energy.unknown)}};
}

Json magnitudes_json(const StepRow& step) {
  if (!step.magnitudes || step.magnitudes->size() <= not_finite_bin) return nullptr;
  const std::vector<std::int64_t>& counts = *step.magnitudes;
  const FormatShares fp16 = fp16_shares(counts);
  return {{"zero", counts[zero_bin]},
          {"not_finite", counts[not_finite_bin]},
          {"least_exponent", least_exponent},
          {"counts", std::vector<std::int64_t>(counts.begin() + 1, counts.begin() + not_finite_bin)},
          {"fp16",
           {{"zero", fp16.zero},
            {"below", fp16.below},
            {"subnormal", fp16.subnormal},
            {"normal", fp16.normal},
            {"beyond", fp16.beyond}}}};
}

Json budget_json(const std::optional<RunBudget>& budget) {
  if (!budget) return nullptr;
  return {{"tokens", budget->tokens},
          {"days", known(budget->days)},
          {"joules", known(budget->joules)},
          {"watts_per_device", known(budget->watts)},
          {"goodput", known(budget->goodput)},
          {"days_with_failures", known(budget->days_with_failures)},
          {"failures", known(budget->failures)},
          {"checkpoint_interval_s", known(budget->checkpoint_interval)}};
}

/// Of a prediction without a node, or of a run that lost a rank.
Json lost_json(const Report& report) {
  if (report.lost_rank)
    return {{"rank", report.lost_rank->rank},
            {"last_step", report.lost_rank->last_step < 0 ? Json(nullptr) : Json(report.lost_rank->last_step)},
            {"reason", report.lost_rank->words}};
  if (!report.lost) return nullptr;
  return {{"node", report.lost->node},
          {"replicas", report.lost->replicas},
          {"replicas_before", report.lost->replicas_before},
          {"tokens_per_s_before", known(report.lost->tokens_per_s_before)}};
}

}  // namespace

nlohmann::json to_json(const Report& report) {
  Json steps = Json::array(), memory = Json::array(), traffic = Json::array(), links = Json::array(),
       time = Json::object();
  for (const StepRow& row : report.steps)
    steps.push_back({{"step", row.step},
                     {"loss", known(row.loss)},
                     {"grad_norm", known(row.grad_norm)},
                     {"loss_scale", row.loss_scale > 0 ? Json(row.loss_scale) : Json(nullptr)},
                     {"skipped", row.skipped},
                     {"seconds", known(row.seconds)},
                     {"tokens_per_s", known(row.tokens_per_s)},
                     {"joules", known(row.joules)},
                     {"magnitudes", magnitudes_json(row)}});
  for (int c = 0; c < time_class_count; ++c) {
    const auto which = static_cast<TimeClass>(c);
    time[std::string(name_of(which))] = known(report.time[which]);
  }
  for (const MemoryRow& row : report.memory) {
    Json entry = {{"rank", row.rank}};
    put_memory(entry, row.measured);
    Json predicted = Json::object();
    put_memory(predicted, row.predicted);
    if (row.predicted && row.predicted->at_peak)
      for (int c = 0; c < memory_class_count; ++c)
        predicted["at_peak"][std::string(name_of(static_cast<MemoryClass>(c)))] = (*row.predicted->at_peak)[c];
    entry["ranks_alike"] = row.identical_ranks;
    entry["predicted"] = std::move(predicted);
    memory.push_back(std::move(entry));
  }
  for (const TrafficReport& row : report.traffic)
    traffic.push_back({{"purpose", name_of(row.purpose)},
                       {"collective", name_of(row.collective)},
                       {"group", row.group == GroupKind::self ? Json(nullptr) : Json(name_of(row.group))},
                       {"count", row.count},
                       {"bytes_per_rank", known(row.bytes_per_rank)},
                       {"payload_per_rank", known(row.payload_per_rank)},
                       {"predicted", known(row.predicted)}});
  for (const LinkReport& link : report.links)
    links.push_back(
        {{"from", link.from}, {"to", link.to}, {"bytes", known(link.bytes)}, {"predicted", known(link.predicted)}});
  return {
      {"plan", report.is_imported ? Json(nullptr) : plan_json(report.plan)},
      {"ranks", report.ranks},
      {"clock", name_of(report.clock)},
      {"obtained", name_of(report.obtained)},
      {"step_seconds", known(report.step_seconds)},
      {"predicted_step_seconds", known(report.predicted_step_seconds)},
      {"steps", std::move(steps)},
      {"loss_floor", known(report.loss_floor)},
      {"bubble", bubble_json(report.bubble)},
      {"bubble_span", bubble_json(report.bubble_span)},
      {"time", std::move(time)},
      {"analysed_step", report.representative ? Json(report.representative->step) : Json(nullptr)},
      {"mfu", known(report.mfu)},
      {"hfu", known(report.hfu)},
      {"peak_spread", known(report.peak_spread)},
      {"tokens_per_s", known(report.tokens_per_s)},
      {"tokens_per_s_per_device", known(report.tokens_per_s / report.ranks)},
      {"tflops_per_device", known(report.tflops_per_device)},
      {"memory", std::move(memory)},
      {"traffic", std::move(traffic)},
      {"links", std::move(links)},
      {"energy", energy_json(report.energy)},
      {"telemetry",
       {{"events", known(report.telemetry.events)},
        {"dropped", known(report.telemetry.dropped)},
        {"overhead", known(report.telemetry.overhead)}}},
      {"forged_messages", known(report.forged_messages)},
      {"folded", report.folded},
      {"costs", report.costs.empty() ? Json(nullptr) : Json(report.costs)},
      {"slow_rank", report.slow ? Json{{"rank", report.slow->rank}, {"factor", report.slow->factor}} : Json(nullptr)},
      {"awaited_rank", report.awaited ? Json{{"rank", report.awaited->rank},
                                             {"seconds", report.awaited->seconds},
                                             {"share", report.awaited->share}}
                                      : Json(nullptr)},
      {"others_cpu_share", known(report.others_share)},
      {"faults", all_faults(report)},
      {"device_memory", device_json(report.device)},
      {"budget", budget_json(report.budget)},
      {"lost", lost_json(report)}};
}

}  // namespace rankscope
