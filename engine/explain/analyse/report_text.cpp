#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/host/excerpt.hpp"
#include "engine/explain/analyse/magnitudes.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

using figure::bytes;
using figure::dash;
using figure::duration;
using figure::number;
using figure::percent;

std::string row(std::string_view label, const std::string& value) {
  return fmt::format("{:<22} {}\n", label, printable(value));
}

/// Unknown values are omitted; `ran`: how the run's value was obtained.
std::string bubble_row(std::string_view label, const Bubble& bubble, Obtained ran) {
  std::string text;
  const auto add = [&](double value, std::string_view name) {
    if (!std::isnan(value)) text += fmt::format("{:>9} ", percent(value)) + std::string(name) + "  ";
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
  if (!report.title.empty()) text += printable(report.title) + "\n";
  text += row("plan", report.is_imported ? "none: the run of another program, imported"
                      : !report.task.empty()
                          ? report.task
                          : fmt::format("data {} x tensor {} x pipeline {}, {}, {}, {}", p.data, p.tensor, p.pipeline,
                                        p.schedule.name(), counted(p.micro_batches, "micro-batch", ending_es),
                                        p.precision.name()));
  text += row("ranks", std::to_string(report.ranks));
  std::string clock = std::string(name_of(report.obtained)) + ", " + std::string(name_of(report.clock)) + " clock";
  if (report.clock_uncertainty_s > 0) clock += ", ranks' clocks fitted within " + duration(report.clock_uncertainty_s);
  if (report.folded) clock += ", identical ranks folded into one";
  return text + row("times are", clock);
}

/// NVML's counter is updated every few tens of milliseconds; a step's joules are accurate to one update.
constexpr double nvml_renewed_s = 0.1;

std::string energy_line(const Report& report) {
  const EnergyReport& e = report.energy;
  if (report.obtained == Obtained::simulated) return "";  // a prediction has no counts; see `whole run`
  if (e.source == PowerSource::none && report.is_imported) return "";
  if (e.source == PowerSource::none) return row("energy", e.unknown);
  std::string text = fmt::format("{:.4g} J per step, {:.4g} W on average", e.joules_per_step, e.watts);
  if (!std::isnan(e.joules_per_token)) text += fmt::format(", {:.4g} J per ", e.joules_per_token) + report.token_word;
  if (!std::isnan(e.predicted_watts)) text += fmt::format(", predicted {:.4g} W", e.predicted_watts);
  const char* thing = e.source == PowerSource::nvml ? "GPU" : "host";
  text += fmt::format(", counted by {} on {}", std::string(name_of(e.source)), counted(e.counters, thing));
  if (e.source == PowerSource::rapl) text += " (everything on its processors)";
  if (e.source == PowerSource::nvml && report.step_seconds < nvml_renewed_s)
    text += " (updated some tens of times per second: such a short step reports 0 J or the energy of several steps)";
  return row("energy", text);
}

std::string numbers(const Report& report) {
  std::string step = duration(report.step_seconds);
  if (report.steps.size() > 1 && report.obtained != Obtained::simulated) step += " (median without the first step)";
  if (!std::isnan(report.predicted_step_seconds) && report.obtained != Obtained::simulated)
    step += ", predicted " + duration(report.predicted_step_seconds);
  std::string text = row("step", step);
  if (!std::isnan(report.tokens_per_s))
    text += row(report.token_word + "s/s",
                fmt::format("{:.0f}, {:.4g} per device", report.tokens_per_s, report.tokens_per_s / report.ranks));
  text += bubble_row("bubble", report.bubble, report.obtained) +
          bubble_row("bubble_span", report.bubble_span, report.obtained);
  if (report.steady_steps > 1 && report.representative)
    text +=
        row("", report.is_imported ? fmt::format("shares and bubble of step {} (the one of median length of {} steps)",
                                                 report.representative->step, report.steady_steps)
                                   : fmt::format("bubble of step {} (median of {} steady steps)",
                                                 report.representative->step, report.steady_steps));
  if (report.task.empty() && !report.is_imported)
    text += row("MFU, HFU", percent(report.mfu) + ", " + percent(report.hfu) + ", " +
                                number(report.tflops_per_device, "{:.4g}") + " TFLOP/s per device");
  if (report.task.empty() && report.peak_spread > steady_peak_spread)
    text +=
        row("", fmt::format("the peak is not steady: its best products differ by {}, so MFU may be as much too high; "
                            "\"rankscope-engine peak\" shows it",
                            percent(report.peak_spread)));
  text += energy_line(report);
  if (report.slow) text += row("slow rank", to_text(*report.slow));
  if (report.awaited) text += row("awaited", to_text(*report.awaited));
  constexpr double noticed = 0.02;
  if (report.clock == ClockDomain::wall && report.others_share > noticed)
    text += row("contention", "other programs had " + percent(report.others_share) +
                                  " of this machine's cores: wall-clock times are longer than on an idle machine");
  if (report.obtained == Obtained::simulated && !report.costs.empty()) text += row("costs", report.costs);
  if (!report.failure.empty()) text += row(report.lost_rank ? "lost rank" : "failed", report.failure);
  if (report.loss_not_finite_since)
    text += row("loss", fmt::format("not finite since step {}", *report.loss_not_finite_since));
  if (report.unrecorded_messages > 0)
    text += row("not recorded",
                fmt::format("{}: {}", counted(report.unrecorded_messages, "message"), report.unrecorded_reason));
  for (const std::string& fault : report.faults) text += row("measurement fault", fault);
  return text;
}

std::string time_table(const Report& report) {
  std::string text = "\ntime                   share";
  // Parameter servers have no model to compute, and of ranks without a trace nothing is known, so these shares and the
  // bubble are not of all ranks.
  if (report.representative && report.representative->workers < report.ranks)
    text += report.is_imported ? fmt::format(", mean over the ranks with a trace: {} of {}",
                                             report.representative->workers, report.ranks)
                               : fmt::format(", mean over the {}", counted(report.representative->workers, "worker"));
  text += "\n";
  for (int c = 0; c < time_class_count; ++c) {
    const auto which = static_cast<TimeClass>(c);
    text += fmt::format("  {:<20} {:>8}\n", std::string(name_of(which)), percent(report.time[which]));
  }
  if (report.time.unknown > 0)
    text += fmt::format("  {:<20} {:>8} of it, where data are missing\n", "  unknown", percent(report.time.unknown));
  return text;
}

std::string step_table(const Report& report) {
  if (report.steps.empty()) return "";
  const bool scaled = std::ranges::any_of(report.steps, [](const StepRow& step) { return step.loss_scale > 0; });
  std::string text = "\n  step        loss   grad norm        time   " + report.token_word + "s/s";
  text += scaled ? "  loss scale\n" : "\n";
  constexpr std::size_t shown = 10;  // of a long run, the first and the last ones
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    if (report.steps.size() > 2 * shown && i == shown) {
      text += fmt::format("   ... {}\n", counted(std::ssize(report.steps) - 2 * std::int64_t{shown}, "step"));
      i = report.steps.size() - shown;
    }
    const StepRow& s = report.steps[i];
    text += fmt::format("{:6} {:>11} {:>11} {:>11} {:>10}", s.step, number(s.loss, "{:.5f}"),
                        s.skipped ? "skipped" : number(s.grad_norm, "{:.4f}"), duration(s.seconds),
                        number(s.tokens_per_s, "{:.0f}"));
    if (scaled) text += fmt::format("  {:>10}", number(s.loss_scale, "{:.6g}"));
    text += "\n";
  }
  for (auto s = report.steps.rbegin(); s != report.steps.rend(); ++s) {
    if (!s->magnitudes) continue;
    const FormatShares fp16 = fp16_shares(*s->magnitudes);
    text += fmt::format("gradients of step {}{}: {} are below the fp16 range, {} subnormal in fp16, {} above it\n",
                        s->step, s->loss_scale > 0 ? fmt::format(", times {:.6g}", s->loss_scale) : "",
                        percent(fp16.below), percent(fp16.subnormal), percent(fp16.beyond));
    break;
  }
  if (!std::isnan(report.loss_floor))
    text += fmt::format(" floor {:11.5f}   the entropy of the data\n", report.loss_floor);
  return text;
}

/// 3e11 is "300 billion".
std::string count(double value) {
  for (const auto& [unit, word] : {std::pair(1e12, "trillion"), std::pair(1e9, "billion"), std::pair(1e6, "million")})
    if (value >= unit) return fmt::format("{:.4g} {}", value / unit, word);
  return fmt::format("{:.0f}", value);
}

/// Of the classes in which any rank has bytes.
using ShownClasses = std::vector<MemoryClass>;

ShownClasses shown_classes(const Report& report) {
  ShownClasses shown;
  for (int c = 0; c < memory_class_count; ++c) {
    const auto has = [c](const std::optional<MemoryBytes>& memory) { return memory && memory->by_class[c] > 0; };
    if (std::any_of(report.memory.begin(), report.memory.end(),
                    [&](const MemoryRow& row) { return has(row.measured) || has(row.predicted); }))
      shown.push_back(static_cast<MemoryClass>(c));
  }
  return shown;
}

std::string memory_line(const std::string& label, int width, const ShownClasses& shown, const MemoryBytes& memory) {
  std::string text = fmt::format("{:<{}}", label, width);
  for (const MemoryClass of : shown)
    text += fmt::format(" {:>12}", bytes(static_cast<double>(memory.by_class[static_cast<std::size_t>(of)])));
  return text + fmt::format(" {:>12}\n", bytes(static_cast<double>(memory.peak)));
}

std::string memory_table(const Report& report) {
  if (report.memory.empty()) return "";
  const auto predicted_label = [](const MemoryRow& r) {
    return r.measured ? std::string("    predicted") : fmt::format("  rank {} pred.", r.rank);
  };
  std::size_t longest = 15;
  for (const MemoryRow& r : report.memory)
    if (r.predicted) longest = std::max(longest, predicted_label(r).size());
  const int width = static_cast<int>(longest);
  std::string text = fmt::format("\n{:<{}}", "memory peaks", width);
  const ShownClasses classes = shown_classes(report);
  for (const MemoryClass of : classes) text += fmt::format(" {:>12}", std::string(name_of(of)));
  text += fmt::format(" {:>12}\n", "total");
  constexpr std::size_t shown = 16;  // of many, the first and the last ones
  for (std::size_t i = 0; i < report.memory.size(); ++i) {
    if (report.memory.size() > 2 * shown && i == shown) {
      text += fmt::format("  ... {} more\n", report.memory.size() - 2 * shown);
      i = report.memory.size() - shown;
    }
    const MemoryRow& r = report.memory[i];
    if (r.measured) text += memory_line(fmt::format("  rank {}", r.rank), width, classes, *r.measured);
    if (r.predicted) text += memory_line(predicted_label(r), width, classes, *r.predicted);
  }
  return text;
}

/// The run after the loss of a node.
std::string lost_line(const Report& report) {
  const LostReplicas& lost = *report.lost;
  if (lost.replicas == 0) return row("lost node", fmt::format("node {}: it had no rank of this plan", lost.node));
  const double after = report.steps.empty() ? std::nan("") : report.steps.back().tokens_per_s;
  return row("lost node",
             fmt::format("node {} and with it {} of {}; the others continue at {:.0f} of {:.0f} {}s/s ({:+.1f} %)",
                         lost.node, lost.replicas, counted(lost.replicas_before, "replica"), after,
                         lost.tokens_per_s_before, report.token_word, 100 * (after / lost.tokens_per_s_before - 1)));
}

std::string fit_lines(const Report& report) {
  std::string text;
  if (report.lost) text += lost_line(report);
  if (report.device) {
    const DeviceFit& d = *report.device;
    text +=
        row("device memory",
            fmt::format(
                "{} of {} on rank {}: {} (each class at its own peak), {:.0f} % allocator slack, {} for context: {}",
                bytes(d.needed), bytes(d.bytes), d.rank, bytes(d.reserved), 100 * d.slack, bytes(d.context),
                d.fits() ? "fits" : "does not fit"));
    for (const MemoryRow& r : report.memory)
      if (r.rank == d.rank && r.predicted && r.predicted->at_peak) {
        std::string parts;
        for (int c = 0; c < memory_class_count; ++c)
          if (const auto of_class = (*r.predicted->at_peak)[c]; of_class > 0)
            parts += (parts.empty() ? "" : ", ") + std::string(name_of(static_cast<MemoryClass>(c))) + " " +
                     bytes(static_cast<double>(of_class));
        text += row("  at its peak", parts);
      }
  }
  if (report.budget) {
    const RunBudget& b = *report.budget;
    text += row("whole run", count(b.tokens) + fmt::format(" {}s in {:.4g} days", report.token_word, b.days) +
                                 (std::isnan(b.joules) ? ""
                                                       : fmt::format(", {:.4g} MWh at {:.0f} W per device on average",
                                                                     b.joules / 3.6e9, b.watts)));
    if (!std::isnan(b.goodput))
      text += row(
          "with failures",
          fmt::format("{:.4g} days: {:.3g} failures, a checkpoint every {:.3g} min, {:.1f} % of the time is progress",
                      b.days_with_failures, b.failures, b.checkpoint_interval / 60, 100 * b.goodput));
  }
  return text.empty() ? "" : "\n" + text;
}

/// The pair of ranks that exchanges the most, and whether the counted bytes of all pairs equal the predicted ones.
std::string busiest_link(const Report& report) {
  if (report.links.empty()) return "";
  const auto load = [](const LinkReport& link) { return std::isnan(link.bytes) ? link.predicted : link.bytes; };
  const LinkReport& most = *std::ranges::max_element(
      report.links, [&](const LinkReport& x, const LinkReport& y) { return load(x) < load(y); });
  std::size_t known = 0, matching = 0;
  for (const LinkReport& link : report.links) {
    known += !std::isnan(link.bytes);
    matching += std::abs(link.bytes - link.predicted) < 0.5;
  }
  std::string text = fmt::format("  {}; busiest {} → {}: ", counted(std::ssize(report.links), "rank-to-rank link"),
                                 most.from, most.to) +
                     bytes(most.bytes) + ", predicted " + bytes(most.predicted);
  if (known > 0) text += fmt::format("; {} of {} counted as predicted", matching, known);
  return text + "\n";
}

std::string traffic_table(const Report& report) {
  if (report.traffic.empty()) return "";
  std::string text =
      "\ntraffic per step       collective     over          count      payload   bytes/rank    predicted\n";
  for (const TrafficReport& r : report.traffic)
    text +=
        fmt::format("  {:<20} {:<14} {:<10} {:8.4g} {:>12} {:>12} {:>12}\n", std::string(name_of(r.purpose)),
                    std::string(name_of(r.collective)), r.group == GroupKind::self ? "" : std::string(name_of(r.group)),
                    r.count, bytes(r.payload_per_rank), bytes(r.bytes_per_rank), bytes(r.predicted));
  const auto is_one = [](const TrafficReport& r) { return is_collective(r.collective); };
  if (!report.is_imported && std::any_of(report.traffic.begin(), report.traffic.end(), is_one))
    text += "  collectives by plan.collective: " + report.plan.collective.name() + "\n";
  return text + busiest_link(report);
}

std::string telemetry_line(const Report& report) {
  if (report.telemetry.events < 0) return "";
  const std::string dropped = report.telemetry.dropped < 0 ? dash : fmt::format("{}", report.telemetry.dropped);
  return "\n" + row("telemetry", fmt::format("{}, {} dropped, overhead {}", counted(report.telemetry.events, "event"),
                                             dropped, percent(report.telemetry.overhead)));
}

}  // namespace

std::string to_text(const Report& report) {
  return head(report) + numbers(report) + time_table(report) + step_table(report) + memory_table(report) +
         fit_lines(report) + traffic_table(report) + telemetry_line(report);
}

}  // namespace rankscope
