#include "engine/explain/facts/laid_out_trials.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope {
namespace {

constexpr double most_trial_ops = 1e5;

Judgement judgement_of(const Report& report) {
  Judgement judged;
  judged.seconds = report.step_seconds;
  judged.bytes = 0;
  for (const MemoryRow& row : report.memory)
    if (row.predicted) judged.bytes = std::max(judged.bytes, static_cast<double>(row.predicted->peak));
  judged.fate = report.device && !report.device->fits() ? Fate::out_of_memory : Fate::fits;
  if (judged.fate == Fate::fits)
    for (std::size_t i = 0; i < judged.parts.size(); ++i) judged.parts[i] = report.time.share[i] * report.step_seconds;
  return judged;
}

Judgement judge(Scenario scenario, const PlanSpec& plan, const Prepare& prepare) {
  scenario.plan = plan;
  try {
    const StepProgram step = compile(scenario);
    return count_ops(step) > most_trial_ops ? Judgement{} : judgement_of(predict_step(step, prepare));
  } catch (const std::exception&) {
    return {};  // rejected: the plan does not fit the model, or deadlocks
  }
}

}  // namespace

PlanTrials laid_out_trials(const Scenario& scenario, Prepare prepare) {
  if (scenario.plan.data_parallel != DataParallel::all_reduce)
    throw std::invalid_argument("a search compares plans whose data ranks are identical; plan.data_parallel is '" +
                                scenario.plan.data_parallel.name() + "', not 'all-reduce'");
  PlanTrials trials{scenario, all_plans(scenario), {}, "simulated op by op"};
  Scenario one = scenario;
  std::erase_if(trials.plans, [&](const PlanSpec& plan) {
    one.plan = plan;
    return first_complaint(one).has_value();
  });
  trials.make_judge = [scenario, prepare = std::move(prepare)]() -> Judge {
    return [scenario, prepare](const PlanSpec& plan) { return judge(scenario, plan, prepare); };
  };
  return trials;
}

PlanTrials trials_of(const Scenario& scenario, Prepare prepare) {
  return std::string_view(why_not_folded(scenario)).empty() ? folded_trials(scenario)
                                                            : laid_out_trials(scenario, std::move(prepare));
}

}  // namespace rankscope
