#include "telemetry/store/step_folder.hpp"

namespace rankscope {
namespace {

constexpr std::uint32_t block = StepMap<StepTotals>::block_steps;

}  // namespace

void StepFolder::reached(std::uint32_t step, const RanksData& ranks, std::int32_t ranks_of_run) {
  if (keep_ == 0 || step < keep_ || (step - keep_) / block * block <= folded_.before) return;
  folded_.before = (step - keep_) / block * block;
  for (const auto& [number, data] : ranks)
    data->fold(folded_, [this](const StepSummary& summary) { reported_[summary.step].insert(summary.rank); });
  std::erase_if(reported_, [&](const auto& of_step) {
    return ranks_of_run > 0 && static_cast<std::int32_t>(of_step.second.size()) == ranks_of_run;
  });
  view_.reset();
}

bool StepFolder::add_late(const StepSummary& summary, RankData& rank, std::int32_t ranks_of_run) {
  const StepTotals* known = folded_.totals.steps.find(summary.step);
  if (known != nullptr && !reported_.contains(summary.step)) return false;  // all have reported: it is a duplicate
  std::set<std::int32_t>& reported = reported_[summary.step];
  if (!reported.insert(summary.rank).second) return false;
  if (static_cast<std::int32_t>(reported.size()) == ranks_of_run) reported_.erase(summary.step);
  rank.fold_late(folded_, summary);
  view_.reset();
  return true;
}

std::shared_ptr<const FoldedSteps> StepFolder::view() {
  if (!view_ && folded_.before > 0) {
    FoldedSteps shared{folded_.before, folded_.totals, {}};
    shared.totals.steps = folded_.totals.steps.share();
    for (std::size_t way = 0; way < obtained_count; ++way) shared.times[way] = folded_.times[way].share();
    view_ = std::make_shared<const FoldedSteps>(std::move(shared));
  }
  return view_;
}

}  // namespace rankscope
