// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/insight_cache.hpp"

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr std::size_t most_kept = 256, most_waiting = 64;

StepInsight take_apart(const StoreView& run, const InsightContext& context, Obtained obtained, std::uint32_t step) {
  StepInsight insight;
  if (obtained != Obtained::simulated) insight.predicted = context.forecast_step;
  insight.ideal_bubble = context.ideal_bubble;
  if (!context.imported.empty()) {
    if (const auto own = imported_step(run, context.imported, step)) {
      insight.run = analyse_step(*own->linked, own->spans, own->range, step);
      insight.linked = own->linked;
    }
  } else if (const auto range = run.step_range(obtained, step)) {
    insight.run = analyse_step(*context.run->linked, spans_around(run, *context.run, obtained, step), *range, step,
                               context.run->planned());
  }
  return insight;
}

}  // namespace

InsightCache::InsightCache(QObject* parent) : QObject(parent), thread_([this] { work(); }) {}

InsightCache::~InsightCache() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_available_.notify_all();
  thread_.join();
}

void InsightCache::set_context(std::shared_ptr<const InsightContext> context) {
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  entries_.clear();
  jobs_.clear();
}

std::shared_ptr<const StepInsight> InsightCache::insight(const std::shared_ptr<const StoreView>& run,
                                                         const std::shared_ptr<const StoreView>&, Obtained obtained,
                                                         std::uint32_t step) {
  const Key key{obtained, step};
  const auto range = run->step_range(obtained, step);
  const std::lock_guard lock(mutex_);
  if (veiled_ || !context_ || (!context_->run && context_->imported.empty()) || !range) return nullptr;
  std::shared_ptr<const StepInsight> known;
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    if (found->range == *range) {
      std::rotate(found, std::next(found), entries_.end());
      return entries_.back().insight;
    }
    known = found->insight;  // shown until the analysis of the longer step is done
  }
  const auto waiting = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.key == key; });
  if (waiting != jobs_.end()) jobs_.erase(waiting);
  jobs_.push_back({key, run, context_});
  if (jobs_.size() > most_waiting) jobs_.pop_front();
  work_available_.notify_one();
  return known;
}

std::shared_ptr<const Step> InsightCache::linked(std::uint32_t step) {
  const std::lock_guard lock(mutex_);
  if (context_ && context_->run) return context_->run->linked;
  for (const Entry& entry : entries_)
    if (entry.key.step == step && entry.insight) return entry.insight->linked;
  return nullptr;
}

std::shared_ptr<const RankProgram> InsightCache::program(int rank) {
  const std::lock_guard lock(mutex_);
  if (!context_ || !context_->run || rank < 0 || rank >= static_cast<int>(context_->run->programs.size()))
    return nullptr;
  return {context_->run, &context_->run->programs[static_cast<std::size_t>(rank)]};
}

void InsightCache::set_veiled(bool veiled) {
  {
    const std::lock_guard lock(mutex_);
    if (veiled == veiled_) return;
    veiled_ = veiled;
    jobs_.clear();
  }
  emit arrived();
}

bool InsightCache::settled() const {
  const std::lock_guard lock(mutex_);
  return jobs_.empty() && !working_;
}

void InsightCache::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_available_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    const Job job = std::move(jobs_.back());
    jobs_.pop_back();
    working_ = true;
    lock.unlock();
    const auto range = job.run->step_range(job.key.obtained, job.key.step);
    auto insight =
        std::make_shared<const StepInsight>(take_apart(*job.run, *job.context, job.key.obtained, job.key.step));
    lock.lock();
    working_ = false;
    if (context_ != job.context || !range) continue;  // it belongs to another run
    std::erase_if(entries_, [&](const Entry& entry) { return entry.key == job.key; });
    entries_.push_back({job.key, *range, std::move(insight)});
    if (entries_.size() > most_kept) entries_.pop_front();
    QMetaObject::invokeMethod(
        this, [this] { emit arrived(); }, Qt::QueuedConnection);
  }
}

}  // namespace rankscope::app
