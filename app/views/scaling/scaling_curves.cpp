// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/scaling/scaling_curves.hpp"

#include <algorithm>
#include <set>

#include "app/views/common/cluster_words.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/explain/validate/validate.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

constexpr double most_ops = 3e5;  ///< of one point's programs: made and simulated in about a second
constexpr double tera = 1e-12;

using text::tr;

QString words(const std::string& utf8) { return QString::fromStdString(utf8); }

ScalingSide side_of(const ScalingFigures& figures) {
  return {figures.step_seconds, figures.tokens_per_s, figures.efficiency};
}

double tokens_of(const Scenario& scenario) {
  return static_cast<double>(scenario.train.global_batch) * scenario.model.tokens_per_sample();
}

Scenario at_value(const Scenario& base, const std::string& key, int value, Scaling scaling) {
  Scenario scenario = base;
  set_value(scenario, {key, std::to_string(value)}, key);
  if (scaling == Scaling::weak) {
    Scenario first = base;
    set_value(first, {key, "1"}, key);
    const std::int64_t batch = weak_batch(base.train.global_batch, scenario.plan.ranks(), first.plan.ranks());
    scenario.train.global_batch = static_cast<int>(batch);
  }
  return scenario;
}

double predicted_seconds(const Scenario& scenario, const CostSource& costs) {
  check_scenario(scenario);
  const StepProgram step = compile(scenario);
  // A folded plan is predicted from the cluster's figures only.
  if (count_ops(step) > most_ops && (costs.run || !is_folded(step))) throw PlanError("too many ops to predict");
  if (!costs.run) return predict_step(step).step_seconds;
  return make_report(facts_of_plan(context_of(scenario), costs_as_in(*costs.run, scenario, step.model))).step_seconds;
}

ScalingAt predicted_at(const Scenario& scenario, const QString& name, const CostSource& costs) {
  ScalingAt at;
  at.ranks = scenario.plan.ranks();
  at.name = name;
  at.tokens = tokens_of(scenario);
  try {
    at.predicted.step_seconds = predicted_seconds(scenario, costs);
    at.predicted.rate = at.tokens / at.predicted.step_seconds;
  } catch (const std::exception& error) {
    at.reason = QString::fromUtf8(error.what());
  }
  return at;
}

/// Relative to the first point that has figures: S/(n/n1), S being the rates'.
void add_efficiency(std::vector<ScalingAt>& points) {
  const auto first =
      std::find_if(points.begin(), points.end(), [](const ScalingAt& at) { return std::isfinite(at.predicted.rate); });
  if (first == points.end()) return;
  for (ScalingAt& at : points)
    at.predicted.efficiency = at.predicted.rate / first->predicted.rate / (at.ranks / first->ranks);
}

/// A single measured point cannot be compared with another.
bool has_run_efficiency(const ScalingCurves& curves) {
  return curves.has_efficiency && std::any_of(curves.points.begin(), curves.points.end(),
                                              [](const ScalingAt& at) { return std::isfinite(at.run.efficiency); });
}

/// Why an efficiency is over 100 %, if any is; empty: none is.
QString why_over_all(const std::vector<ScalingAt>& points, const PlanSpec& plan) {
  constexpr double all = 1.005;  // a value shown as "100 %" is not above it
  const auto over = [&](ScalingSide ScalingAt::*side) {
    return std::any_of(points.begin(), points.end(), [&](const ScalingAt& at) { return (at.*side).efficiency > all; });
  };
  if (!over(&ScalingAt::run) && !over(&ScalingAt::predicted)) return {};
  if (plan.has_servers())
    return plan.servers == 1 ? tr("; over 100 %: one of the ranks is a server and does no compute")
                             : tr("; over 100 %: %1 of the ranks are servers and do no compute").arg(plan.servers);
  return tr("; over 100 %: the work per rank shrinks faster than the number of ranks grows (caches, a divided update)");
}

double model_flops(const Scenario& scenario) {
  return make_model(scenario).model_flops_per_sample() * scenario.train.global_batch;
}

}  // namespace

ScalingCurves curves_of(const Sweep& sweep) {
  const ScalingTable table = scaling_table(sweep);
  ScalingCurves curves;
  curves.title = tr("%1: %2 scaling, measured").arg(words(sweep.title), text::words(name_of(sweep.scaling)));
  curves.rate_name =
      text::rate_name(sweep.scenario_toml.empty() ? ModelSpec{} : parse_recorded_scenario(sweep.scenario_toml).model);
  curves.formula = words(table.formula);
  if (!table.baseline_words.empty())
    curves.formula = tr("%1; against %2").arg(curves.formula, words(table.baseline_words));
  curves.has_efficiency = table.comparable;
  curves.source = tr("%1 on %2, %3 of each point, %4 cores; %5 clock")
                      .arg(words(sweep.file), words(sweep.host))
                      .arg(sweep.repeats == 1 ? tr("one run") : tr("%1 runs").arg(sweep.repeats))
                      .arg(sweep.cores)
                      .arg(text::words(name_of(sweep.clock)));
  for (const ScalingRow& row : table.rows) {
    const SweepPoint& point = sweep.points[static_cast<std::size_t>(row.point)];
    ScalingAt at;
    at.ranks = point.ranks;
    at.name = words(point.words());
    at.run = side_of(row.run);
    at.predicted = side_of(row.predicted);
    at.reason = words(row.reason);
    const double tokens = static_cast<double>(point.tokens_per_step);
    if (row.third_quartile > row.first_quartile) {
      at.rate_low = tokens / row.third_quartile;
      at.rate_high = tokens / row.first_quartile;
    }
    if (row.runs > 0) curves.run_name = text::words(name_of(row.obtained));
    curves.points.push_back(at);
  }
  std::stable_sort(curves.points.begin(), curves.points.end(),
                   [](const ScalingAt& a, const ScalingAt& b) { return a.ranks < b.ranks; });
  if (!sweep.scenario_toml.empty())
    curves.formula += why_over_all(curves.points, parse_recorded_scenario(sweep.scenario_toml).plan);
  return curves;
}

ScalingCurves predicted_curves(const Scenario& scenario, const std::string& key, Scaling scaling, int most_ranks,
                               const CostSource& costs) {
  ScalingCurves curves;
  curves.title =
      tr("%1: %2 scaling over %3, predicted").arg(words(scenario.title), text::words(name_of(scaling)), words(key));
  curves.rate_name = text::rate_name(scenario.model);
  const QString cluster = cluster_words(scenario.cluster);
  curves.source =
      !costs.run ? tr("costs of ops and links: the figures of the cluster %1").arg(cluster)
      : costs.host.isEmpty()
          ? tr("costs of ops: measured by the run before its first step; links of the cluster %1").arg(cluster)
          : tr("costs of ops: measured by the run on %1 before its first step; links of the cluster %2")
                .arg(costs.host, cluster);
  if (scenario.model.is_collective()) {
    curves.failure =
        tr("A single collective has no rate of samples or tokens. Its phases and bytes are in the "
           "Collectives view.");
    return curves;
  }
  for (int value = 1; value <= most_ranks; value *= 2) {
    Scenario point;
    try {
      point = at_value(scenario, key, value, scaling);
    } catch (const ScenarioError& error) {
      curves.failure = QString::fromUtf8(error.what());
      return curves;
    }
    if (point.plan.ranks() > most_ranks) break;
    curves.points.push_back(predicted_at(point, tr("%1 = %2").arg(words(key)).arg(value), costs));
    curves.points.back().at_hand = point.plan == scenario.plan && point.train == scenario.train;
    // With more ranks the reason for the refusal is the same.
    const std::size_t count = curves.points.size();
    if (count > 1 && !curves.points[count - 1].reason.isEmpty() && curves.points[count - 2].reason.isEmpty()) break;
  }
  add_efficiency(curves.points);
  const auto first = std::find_if(curves.points.begin(), curves.points.end(),
                                  [](const ScalingAt& at) { return std::isfinite(at.predicted.rate); });
  if (first == curves.points.end()) {
    curves.failure = curves.points.empty() ? tr("The plan has more than %1 ranks already").arg(most_ranks)
                                           : curves.points.front().reason;
    return curves;
  }
  curves.formula = scaling == Scaling::strong
                       ? tr("efficiency = n₁·T₁ / (n·Tₙ), constant batch; relative to %1").arg(first->name)
                       : tr("efficiency = T₁ / Tₙ, the batch grows with the ranks; relative to %1").arg(first->name);
  curves.formula += why_over_all(curves.points, scenario.plan);
  return curves;
}

ScalingCurves with_run(ScalingCurves curves, const Report& run) {
  if (!std::isfinite(run.step_seconds)) return curves;
  for (ScalingAt& at : curves.points) {
    if (!at.at_hand) continue;
    curves.run_name = text::words(name_of(run.obtained));
    at.run.step_seconds = run.step_seconds;
    at.run.rate = at.tokens / run.step_seconds;
  }
  return curves;
}

bool can_be_scaled(const PublishedTable& table) {
  std::set<int> ranks;
  for (const PublishedRow& row : table.rows)
    if (!row.choices.empty()) ranks.insert(row.choices.front().plan.ranks());
  const bool has_times = table.quantity == Quantity::step_seconds || table.quantity == Quantity::training_seconds;
  return has_times && ranks.size() >= 3;
}

ScalingCurves curves_of(const PublishedTable& table) {
  ScalingCurves curves;
  curves.title = words(table.title);
  curves.run_name = tr("published");
  curves.rate_name = tr("model TFLOP/s per device");
  curves.formula =
      tr("each row is a different model, so there is no speed-up; constants: %1").arg(words(table.constants));
  curves.source = words(table.source);
  curves.has_efficiency = false;
  const ValidatedTable predicted = validate(table);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const PublishedRow& row = table.rows[i];
    if (row.choices.empty()) continue;
    const Scenario& scenario = row.choices.front();
    ScalingAt at;
    at.ranks = scenario.plan.ranks();
    at.name = words(row.name);
    at.fitted = row.fitted;
    const double flops = model_flops(scenario) / at.ranks * tera;
    const double steps = table.quantity == Quantity::training_seconds ? steps_of(row, scenario) : 1;
    at.run.step_seconds = row.published * unit_of(table.unit) / steps;
    at.predicted.step_seconds = predicted.rows[i].predicted() * unit_of(table.unit) / steps;
    at.run.rate = flops / at.run.step_seconds;
    at.predicted.rate = flops / at.predicted.step_seconds;
    curves.points.push_back(at);
  }
  std::stable_sort(curves.points.begin(), curves.points.end(),
                   [](const ScalingAt& a, const ScalingAt& b) { return a.ranks < b.ranks; });
  return curves;
}

QStringList scaling_titles(const ScalingCurves& curves) {
  const bool ran = !curves.run_name.isEmpty();
  // A refusal covers all columns, and needs no title.
  const bool any_reason = std::any_of(curves.points.begin(), curves.points.end(),
                                      [](const ScalingAt& at) { return !at.reason.isEmpty() && !at.refused(); });
  QStringList titles{QString(), tr("ranks"), any_reason ? tr("reason") : QString(), tr("step, predicted")};
  if (ran) titles << curves.run_name << tr("error");
  titles << tr("%1, predicted").arg(curves.rate_name);
  if (ran) titles << curves.run_name;
  if (curves.has_efficiency) titles << (has_run_efficiency(curves) ? tr("efficiency, predicted") : tr("efficiency"));
  if (has_run_efficiency(curves)) titles << curves.run_name;
  return titles;
}

std::vector<std::vector<Cell>> scaling_rows(const ScalingCurves& curves) {
  const bool ran = !curves.run_name.isEmpty();
  std::vector<std::vector<Cell>> rows;
  for (const ScalingAt& at : curves.points) {
    const Tone tone = at.reason.isEmpty() ? Tone::text : Tone::dim;
    QString name = at.name;
    if (at.fitted) name += tr(" (fitted to)");
    const double error = at.predicted.step_seconds / at.run.step_seconds - 1;
    std::vector<Cell> row{{name, tone, at.reason},
                          {QString::number(at.ranks, 'f', 0), tone, {}},
                          {at.reason, Tone::dim, at.reason},
                          {text::seconds(at.predicted.step_seconds), Tone::dim, {}}};
    if (ran) {
      row.push_back({text::seconds(at.run.step_seconds), tone, {}});
      row.push_back({text::signed_percent(error), Tone::dim, {}});
    }
    row.push_back({text::number(at.predicted.rate), Tone::dim, {}});
    if (ran) row.push_back({text::number(at.run.rate), tone, {}});
    if (curves.has_efficiency) row.push_back({text::percent(at.predicted.efficiency), Tone::dim, {}});
    if (has_run_efficiency(curves)) row.push_back({text::percent(at.run.efficiency), tone, {}});
    rows.push_back(std::move(row));
  }
  return rows;
}

QString sweep_axis(const std::string& key, int most) {
  QStringList values;
  for (int value = 1; value <= most; value *= 2) values << QString::number(value);
  return words(key) + QLatin1Char('=') + values.join(QLatin1Char(','));
}

}  // namespace rankscope::app
