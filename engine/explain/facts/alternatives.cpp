#include "engine/explain/facts/alternatives.hpp"

#include <algorithm>
#include <exception>

#include "engine/explain/facts/prediction.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/collective/transfer.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/stage_split.hpp"

namespace rankscope {
namespace {

constexpr double most_ops = 1e5;     ///< of a plan that is not folded: its programs are laid out in tenths of a second
constexpr double least_gain = 0.01;  ///< of step time: smaller changes are not reported
constexpr double least_saving = 0.10;  ///< of memory

class Changes {
 public:
  explicit Changes(const Scenario& scenario) : plan_(scenario.plan), is_collective_(scenario.model.is_collective()) {}

  std::vector<Alternative> all() && {
    if (is_collective_) {
      algorithms();
      return std::move(found_);
    }
    // A change of when a stage updates would train another model.
    if (plan_.updates_each_micro_batch()) return std::move(found_);
    schedules();
    micro_batches();
    shares();
    memory();
    updates();
    return std::move(found_);
  }

 private:
  template <class Change>
  void add(std::string words, const Change& change) {
    PlanSpec plan = plan_;
    change(plan);
    if (plan == plan_) return;
    Alternative& alternative = found_.emplace_back();
    alternative.change = std::move(words);
    alternative.plan = std::move(plan);
  }

  void schedules() {
    if (plan_.pipeline < 2) return;
    const auto to = [&](ScheduleKind schedule, int chunks) {
      return [schedule, chunks](PlanSpec& plan) {
        plan.schedule = schedule;
        plan.virtual_stages = chunks;
        plan.order.clear();
      };
    };
    const bool simple = plan_.schedule == ScheduleKind::naive || plan_.schedule == ScheduleKind::gpipe;
    if (simple) add("1F1B", to(ScheduleKind::one_f_one_b, 1));
    const int chunks = plan_.schedule == ScheduleKind::interleaved ? 2 * plan_.virtual_stages : 2;
    add("interleaved, " + counted(chunks, "chunk") + " a rank", to(ScheduleKind::interleaved, chunks));
    if (plan_.schedule != ScheduleKind::zb_h1) add("zero bubble (ZB-H1)", to(ScheduleKind::zb_h1, 1));
    if (stage_split(plan_) == StageSplit::even) add("layers by cost", [](PlanSpec& plan) { plan.stages = "cost"; });
  }

  void micro_batches() {
    const int now = plan_.micro_batches;
    const auto to = [&](int count) {
      add(counted(count, "micro-batch", ending_es), [count](PlanSpec& plan) { plan.micro_batches = count; });
    };
    to(2 * now);
    if (now % 2 == 0) to(now / 2);
  }

  /// Ranks moved between data, tensor and pipeline. The micro-batch keeps its size.
  void shares() {
    using Size = int PlanSpec::*;
    struct Kind {
      Size size;
      const char* name;
    };
    const Kind kinds[] = {{&PlanSpec::data, "data"}, {&PlanSpec::tensor, "tensor"}, {&PlanSpec::pipeline, "pipeline"}};
    for (const Kind& from : kinds)
      for (const Kind& to : kinds) {
        if (from.size == to.size || plan_.*from.size % 2 != 0) continue;
        PlanSpec moved = plan_;
        moved.*from.size /= 2;
        moved.*to.size *= 2;
        if (moved.data > plan_.data && moved.micro_batches % 2 == 0) moved.micro_batches /= 2;
        if (moved.data < plan_.data) moved.micro_batches *= 2;
        if (moved.pipeline == 1 || plan_.pipeline == 1) {
          moved.schedule = ScheduleKind::one_f_one_b;
          moved.virtual_stages = 1;
          moved.order.clear();
        }
        if (moved.tensor == 1) moved.sequence_parallel = false;
        if (moved.data == 1) moved.zero = 0;
        add(fmt::format("{} {}, {} {}", to.name, moved.*to.size, from.name, moved.*from.size),
            [&](PlanSpec& plan) { plan = moved; });
      }
  }

  void memory() {
    const auto recompute = [&](Recompute what, const char* words) {
      if (plan_.recompute == what) return;
      add(words, [what](PlanSpec& plan) {
        plan.recompute = what;
        plan.recompute_blocks = 1;
      });
    };
    recompute(Recompute::none, "no recomputation");
    recompute(Recompute::selective, "selective recomputation");
    recompute(Recompute::blocks, "recomputation of every block");
    if (plan_.data > 1 && plan_.data_parallel == DataParallel::all_reduce && plan_.zero < 3)
      for (int stage = plan_.zero + 1; stage <= 3; ++stage)
        add(fmt::format("ZeRO stage {}", stage), [stage](PlanSpec& plan) { plan.zero = stage; });
    if (plan_.zero > 0) add("no ZeRO", [](PlanSpec& plan) { plan.zero = 0; });
    if (plan_.tensor > 1 && !plan_.sequence_parallel)
      add("sequence parallel", [](PlanSpec& plan) { plan.sequence_parallel = true; });
  }

  void updates() {
    if (plan_.has_main_device())
      add("all-reduce instead of a main device", [](PlanSpec& plan) { plan.data_parallel = DataParallel::all_reduce; });
  }

  /// All changes of a single collective, with the same ranks.
  void algorithms() {
    for (const std::string_view name : word_table<CollectiveChoice>)
      if (algorithm_of(name)) add(std::string(name), [&](PlanSpec& plan) { plan.collective = name; });
  }

  const PlanSpec& plan_;
  bool is_collective_;
  std::vector<Alternative> found_;
};

void predict_into(Alternative& alternative, Scenario scenario) {
  scenario.plan = alternative.plan;
  check_scenario(scenario);
  const StepProgram step = compile(scenario);
  if (!is_folded(step) && count_ops(step) > most_ops) throw PlanError("too many ops to predict variants");
  const Report report = predict_step(step);
  alternative.step_seconds = report.step_seconds;
  alternative.bubble = report.bubble.predicted;
  alternative.peak_bytes = 0;
  for (const MemoryRow& row : report.memory)
    if (row.predicted)
      alternative.peak_bytes = std::max(alternative.peak_bytes, static_cast<double>(row.predicted->peak));
  alternative.fits = !report.device || report.device->fits();
}

/// Changes that keep model, data, precision, optimizer, global batch and the number of ranks: another
/// schedule, more or fewer micro-batches, layers by cost, recomputation, ZeRO, sequence parallelism, a synchronous
/// all-reduce, and ranks moved from one kind of parallelism to another. Some of these plans may be unable to run.
std::vector<Alternative> neighbouring_plans(const Scenario& scenario) { return Changes(scenario).all(); }

}  // namespace

Alternatives alternatives_to(const Scenario& scenario, const std::function<bool()>& should_continue) {
  Alternatives result;
  result.now.plan = scenario.plan;
  predict_into(result.now, scenario);
  for (Alternative& alternative : neighbouring_plans(scenario)) {
    if (should_continue && !should_continue()) break;
    try {
      predict_into(alternative, scenario);
    } catch (const std::exception&) {
      continue;  // rejected: this plan does not fit the model, the batch or the other choices
    }
    result.others.push_back(std::move(alternative));
  }
  std::stable_sort(result.others.begin(), result.others.end(),
                   [](const Alternative& a, const Alternative& b) { return a.step_seconds < b.step_seconds; });
  return result;
}

std::vector<Alternative> worth_trying(const Alternatives& all, std::size_t faster, std::size_t smaller) {
  std::vector<Alternative> result, saving;
  for (const Alternative& other : all.others) {
    if (!other.fits) continue;
    if (other.step_seconds <= all.now.step_seconds * (1 - least_gain) || !all.now.fits) {
      if (result.size() < faster) result.push_back(other);
    } else if (other.peak_bytes <= all.now.peak_bytes * (1 - least_saving)) {
      saving.push_back(other);
    }
  }
  std::stable_sort(saving.begin(), saving.end(),
                   [](const Alternative& a, const Alternative& b) { return a.peak_bytes < b.peak_bytes; });
  if (saving.size() > smaller) saving.resize(smaller);
  result.insert(result.end(), saving.begin(), saving.end());
  return result;
}

}  // namespace rankscope
