#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/analyse/figure_text.hpp"
#include "engine/analyse/magnitudes.hpp"
#include "engine/analyse/report.hpp"

namespace rankscope {
namespace {

using figure::dash;
using figure::duration;
using figure::format;
using figure::number;
using figure::percent;

std::string bytes(double value) {
  if (std::isnan(value)) return dash;
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return format(unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
}

std::string row(std::string_view label, const std::string& value) {
  return format("%-22.*s %s\n", static_cast<int>(label.size()), label.data(), value.c_str());
}

/// What is not known is left out; `ran` says how the run's was obtained.
std::string bubble_row(std::string_view label, const Bubble& bubble, Obtained ran) {
  std::string text;
  const auto add = [&](double value, std::string_view name) {
    if (!std::isnan(value)) text += format("%9s ", percent(value).c_str()) + std::string(name) + "  ";
  };
  add(bubble.ideal, "ideal");
  add(bubble.predicted, "predicted");
  add(bubble.measured, name_of(ran));
  while (text.ends_with(' ')) text.pop_back();
  return row(label, text.empty() ? dash : text);
}

std::string head(const Report& report) {
  const PlanSpec& p = report.plan;
  std::string text;
  if (!report.title.empty()) text += report.title + "\n";
  text +=
      row("plan", format("data %d x tensor %d x pipeline %d, %s, %d micro-batch%s, %s", p.data, p.tensor, p.pipeline,
                         p.schedule.c_str(), p.micro_batches, p.micro_batches == 1 ? "" : "es", p.precision.c_str()));
  text += row("ranks", std::to_string(report.ranks));
  std::string clock = std::string(name_of(report.obtained)) + ", " + std::string(name_of(report.clock)) + " clock";
  if (report.clock_uncertainty_s > 0) clock += ", ranks' clocks fitted within " + duration(report.clock_uncertainty_s);
  if (report.folded) clock += ", identical ranks folded into one";
  return text + row("times are", clock);
}

/// NVML's counter goes on in jumps of some tens of milliseconds, and a step's joules are right to one of them.
constexpr double nvml_renewed_s = 0.1;

std::string energy_line(const Report& report) {
  const EnergyReport& e = report.energy;
  if (report.obtained == Obtained::simulated) return "";  // what nothing counts; see `whole run`
  if (e.source == PowerSource::none) return row("energy", e.unknown);
  std::string text = format("%.4g J a step, %.4g W on average", e.joules_per_step, e.watts);
  if (!std::isnan(e.joules_per_token)) text += format(", %.4g J per ", e.joules_per_token) + report.token_word;
  if (!std::isnan(e.predicted_watts)) text += format(", predicted %.4g W", e.predicted_watts);
  const char* thing = e.source == PowerSource::nvml ? "GPU" : "host";
  text += format(", counted by %s on %d %s%s", std::string(name_of(e.source)).c_str(), e.counters, thing,
                 e.counters == 1 ? "" : "s");
  if (e.source == PowerSource::rapl) text += " (all that ran on its processors)";
  if (e.source == PowerSource::nvml && report.step_seconds < nvml_renewed_s)
    text += " (renewed some tens of times a second: a single step as short as these tells 0 J or several steps')";
  return row("energy", text);
}

std::string numbers(const Report& report) {
  std::string step = duration(report.step_seconds);
  if (report.steps.size() > 1 && report.obtained != Obtained::simulated) step += " (median without the first step)";
  if (!std::isnan(report.predicted_step_seconds) && report.obtained != Obtained::simulated)
    step += ", predicted " + duration(report.predicted_step_seconds);
  std::string text = row("step", step);
  text += bubble_row("bubble", report.bubble, report.obtained) +
          bubble_row("bubble_span", report.bubble_span, report.obtained);
  if (report.steady_steps > 1 && report.representative)
    text += row(
        "", format("bubble of step %u (median of %d steady steps)", report.representative->step, report.steady_steps));
  text += row("MFU, HFU", percent(report.mfu) + ", " + percent(report.hfu) + ", " +
                              number(report.tflops_per_device, "%.4g") + " TFLOP/s per device");
  text += energy_line(report);
  if (report.slow) text += row("slow rank", to_text(*report.slow));
  constexpr double noticed = 0.02;
  if (report.clock == ClockDomain::wall && report.others_share > noticed)
    text += row("contention", "other programs had " + percent(report.others_share) +
                                  " of this machine's cores: wall-clock times are longer than on a quiet one");
  if (report.obtained == Obtained::simulated && !report.costs.empty()) text += row("costs", report.costs);
  for (const std::string& fault : report.faults) text += row("measurement fault", fault);
  return text;
}

std::string time_table(const Report& report) {
  std::string text = "\ntime                   share";
  // Parameter servers have no model to compute, so these shares and the bubble are not of all ranks.
  if (report.representative && report.representative->workers < report.ranks)
    text += format(", mean over the %d workers", report.representative->workers);
  text += "\n";
  for (int c = 0; c < time_class_count; ++c) {
    const auto which = static_cast<TimeClass>(c);
    text += format("  %-20s %8s\n", std::string(name_of(which)).c_str(), percent(report.time[which]).c_str());
  }
  if (report.time.unknown > 0)
    text += format("  %-20s %8s of it, where data are missing\n", "  unknown", percent(report.time.unknown).c_str());
  return text;
}

std::string step_table(const Report& report) {
  if (report.steps.empty()) return "";
  const bool scaled =
      std::any_of(report.steps.begin(), report.steps.end(), [](const StepRow& step) { return step.loss_scale > 0; });
  std::string text = "\n  step        loss   grad norm        time   " + report.token_word + "s/s";
  text += scaled ? "  loss scale\n" : "\n";
  constexpr std::size_t shown = 10;  // of a long run the first and the last ones
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    if (report.steps.size() > 2 * shown && i == shown) {
      text += format("   ... %zu steps\n", report.steps.size() - 2 * shown);
      i = report.steps.size() - shown;
    }
    const StepRow& s = report.steps[i];
    text += format("%6u %11s %11s %11s %10s", s.step, number(s.loss, "%.5f").c_str(),
                   s.skipped ? "skipped" : number(s.grad_norm, "%.4f").c_str(), duration(s.seconds).c_str(),
                   number(s.tokens_per_s, "%.0f").c_str());
    if (scaled) text += format("  %10s", number(s.loss_scale, "%.6g").c_str());
    text += "\n";
  }
  for (auto s = report.steps.rbegin(); s != report.steps.rend(); ++s) {
    if (!s->magnitudes) continue;
    const Fp16Shares fp16 = fp16_shares(*s->magnitudes);
    text += format("gradients of step %u%s: %s are below what fp16 holds, %s subnormal in it, %s beyond it\n", s->step,
                   s->loss_scale > 0 ? format(", times %.6g", s->loss_scale).c_str() : "", percent(fp16.below).c_str(),
                   percent(fp16.subnormal).c_str(), percent(fp16.beyond).c_str());
    break;
  }
  if (!std::isnan(report.loss_floor)) text += format(" floor %11.5f   the entropy of the data\n", report.loss_floor);
  return text;
}

/// 3e11 is "300 billion".
std::string count(double value) {
  for (const auto& [unit, word] : {std::pair(1e12, "trillion"), std::pair(1e9, "billion"), std::pair(1e6, "million")})
    if (value >= unit) return format("%.4g %s", value / unit, word);
  return format("%.0f", value);
}

/// Of the classes that any rank has something in.
using ShownClasses = std::vector<MemoryClass>;

ShownClasses shown_classes(const Report& report) {
  ShownClasses shown;
  for (int c = 0; c < memory_class_count; ++c) {
    const auto has = [c](const std::optional<MemoryBytes>& memory) {
      return memory && memory->by_class[static_cast<std::size_t>(c)] > 0;
    };
    if (std::any_of(report.memory.begin(), report.memory.end(),
                    [&](const MemoryRow& row) { return has(row.measured) || has(row.predicted); }))
      shown.push_back(static_cast<MemoryClass>(c));
  }
  return shown;
}

std::string memory_line(const std::string& label, int width, const ShownClasses& shown, const MemoryBytes& memory) {
  std::string text = format("%-*s", width, label.c_str());
  for (const MemoryClass of : shown)
    text += format(" %12s", bytes(static_cast<double>(memory.by_class[static_cast<std::size_t>(of)])).c_str());
  return text + format(" %12s\n", bytes(static_cast<double>(memory.peak)).c_str());
}

std::string memory_table(const Report& report) {
  if (report.memory.empty()) return "";
  const auto predicted_label = [](const MemoryRow& r) {
    return r.measured ? std::string("    predicted") : format("  rank %d pred.", r.rank);
  };
  std::size_t longest = 15;
  for (const MemoryRow& r : report.memory)
    if (r.predicted) longest = std::max(longest, predicted_label(r).size());
  const int width = static_cast<int>(longest);
  std::string text = format("\n%-*s", width, "memory peaks");
  const ShownClasses classes = shown_classes(report);
  for (const MemoryClass of : classes) text += format(" %12s", std::string(name_of(of)).c_str());
  text += format(" %12s\n", "total");
  constexpr std::size_t shown = 16;  // of many, the first and the last ones
  for (std::size_t i = 0; i < report.memory.size(); ++i) {
    if (report.memory.size() > 2 * shown && i == shown) {
      text += format("  ... %zu more\n", report.memory.size() - 2 * shown);
      i = report.memory.size() - shown;
    }
    const MemoryRow& r = report.memory[i];
    if (r.measured) text += memory_line(format("  rank %d", r.rank), width, classes, *r.measured);
    if (r.predicted) text += memory_line(predicted_label(r), width, classes, *r.predicted);
  }
  return text;
}

/// What is left without a lost node.
std::string lost_line(const Report& report) {
  const LostReplicas& lost = *report.lost;
  if (lost.replicas == 0) return row("lost node", format("node %d: no rank of this plan was on it", lost.node));
  const double after = report.steps.empty() ? std::nan("") : report.steps.back().tokens_per_s;
  return row("lost node",
             format("node %d and with it %d of %d replicas; the others go on at %.0f of %.0f %ss/s (%+.1f %%)",
                    lost.node, lost.replicas, lost.replicas_before, after, lost.tokens_per_s_before,
                    report.token_word.c_str(), 100 * (after / lost.tokens_per_s_before - 1)));
}

std::string fit_lines(const Report& report) {
  std::string text;
  if (report.lost) text += lost_line(report);
  if (report.device) {
    const DeviceFit& d = *report.device;
    text += row("device memory", format("%s of %s on rank %d, with %s for context and %.0f %% allocator slack: %s",
                                        bytes(d.needed).c_str(), bytes(d.bytes).c_str(), d.rank,
                                        bytes(d.context).c_str(), 100 * d.slack, d.fits() ? "fits" : "does not fit"));
    for (const MemoryRow& r : report.memory)
      if (r.rank == d.rank && r.predicted && r.predicted->at_peak) {
        std::string parts;
        for (int c = 0; c < memory_class_count; ++c)
          if (const auto of_class = (*r.predicted->at_peak)[static_cast<std::size_t>(c)]; of_class > 0)
            parts += (parts.empty() ? "" : ", ") + std::string(name_of(static_cast<MemoryClass>(c))) + " " +
                     bytes(static_cast<double>(of_class));
        text += row("  at its peak", parts);
      }
  }
  if (report.budget) {
    const RunBudget& b = *report.budget;
    text += row("whole run", count(b.tokens) + format(" %ss in %.4g days", report.token_word.c_str(), b.days) +
                                 (std::isnan(b.joules)
                                      ? ""
                                      : format(", %.4g MWh at %.0f W a device on average", b.joules / 3.6e9, b.watts)));
    if (!std::isnan(b.goodput))
      text +=
          row("with failures", format("%.4g days: %.3g failures, a checkpoint every %.3g min, %.1f %% of it progress",
                                      b.days_with_failures, b.failures, b.checkpoint_interval / 60, 100 * b.goodput));
  }
  return text.empty() ? "" : "\n" + text;
}

/// The pair of ranks that exchanges the most, and whether what was counted on all pairs is what was predicted.
std::string busiest_link(const Report& report) {
  if (report.links.empty()) return "";
  const auto load = [](const LinkReport& link) { return std::isnan(link.bytes) ? link.predicted : link.bytes; };
  const LinkReport& most =
      *std::max_element(report.links.begin(), report.links.end(),
                        [&](const LinkReport& x, const LinkReport& y) { return load(x) < load(y); });
  std::size_t known = 0, alike = 0;
  for (const LinkReport& link : report.links) {
    known += !std::isnan(link.bytes);
    alike += std::abs(link.bytes - link.predicted) < 0.5;
  }
  std::string text =
      format("  %zu rank-to-rank links; busiest %d → %d: ", report.links.size(), most.from, most.to) +
      bytes(most.bytes) + ", predicted " + bytes(most.predicted);
  if (known > 0) text += format("; %zu of %zu counted as predicted", alike, known);
  return text + "\n";
}

std::string traffic_table(const Report& report) {
  if (report.traffic.empty()) return "";
  std::string text = "\ntraffic per step       collective     over          count   bytes/rank    predicted\n";
  for (const TrafficReport& r : report.traffic)
    text += format("  %-20s %-14s %-10s %8.4g %12s %12s\n", std::string(name_of(r.purpose)).c_str(),
                   std::string(name_of(r.collective)).c_str(),
                   r.group == GroupKind::self ? "" : std::string(name_of(r.group)).c_str(), r.count,
                   bytes(r.bytes_per_rank).c_str(), bytes(r.predicted).c_str());
  const auto is_one = [](const TrafficReport& r) { return is_collective(r.collective); };
  if (std::any_of(report.traffic.begin(), report.traffic.end(), is_one))
    text += "  collectives by plan.collective: " + report.plan.collective + "\n";
  return text + busiest_link(report);
}

std::string telemetry_line(const Report& report) {
  if (report.telemetry.events < 0) return "";
  return "\n" + row("telemetry", std::to_string(report.telemetry.events) + " events, " +
                                     (report.telemetry.dropped < 0 ? dash : std::to_string(report.telemetry.dropped)) +
                                     " dropped, overhead " + percent(report.telemetry.overhead));
}

}  // namespace

std::string to_text(const Report& report) {
  return head(report) + numbers(report) + time_table(report) + step_table(report) + memory_table(report) +
         fit_lines(report) + traffic_table(report) + telemetry_line(report);
}

}  // namespace rankscope
