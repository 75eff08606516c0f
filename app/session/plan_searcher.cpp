// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/plan_searcher.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <mutex>

#include "engine/execute/run/scratch.hpp"
#include "engine/explain/facts/laid_out_trials.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/predict/search/plan_space.hpp"

namespace rankscope::app {
namespace {

constexpr int below_painting = 10;  // the nice value; started threads inherit it
constexpr auto progress_every = std::chrono::milliseconds(100);

/// Thrown to end a search that is no longer needed.
struct Stopped {};

}  // namespace

QString name_for_people(Strategy strategy) {
  switch (strategy) {
    case Strategy::exhaustive: return PlanSearcher::tr("exhaustive");
    case Strategy::random: return PlanSearcher::tr("random");
    case Strategy::bayes: return PlanSearcher::tr("Bayesian");
  }
  return {};
}

PlanSearcher::PlanSearcher(QObject* parent) : QObject(parent) {}

PlanSearcher::~PlanSearcher() { end(); }

void PlanSearcher::end() {
  if (job_) job_->stopped = true;
  job_ = nullptr;
  if (thread_.joinable()) thread_.join();
  running_ = false;
  progress_words_.clear();
}

void PlanSearcher::forget() {
  end();
  reports_.clear();
  now_.reset();
  scenario_.reset();
  failure_.clear();
}

void PlanSearcher::start(const Scenario& scenario, std::size_t budget, std::uint64_t seed,
                         std::vector<Strategy> strategies) {
  forget();
  progress_words_ = tr("Listing plans…");
  scenario_ = scenario;
  running_ = true;
  job_ = std::make_shared<Job>();
  Exploration how;
  how.budget = budget;
  how.seed = seed;
  thread_ = std::jthread(
      [this, job = job_, scenario, how, strategies = std::move(strategies)] { work(job, scenario, how, strategies); });
  emit changed();
}

void PlanSearcher::stop() {
  if (!running_) return;
  end();
  emit changed();
}

void PlanSearcher::clear() {
  forget();
  emit changed();
}

std::shared_ptr<const PlanSearchReport> PlanSearcher::report(Strategy strategy) const {
  const auto found = reports_.find(strategy);
  return found == reports_.end() ? nullptr : found->second;
}

void PlanSearcher::post(const std::shared_ptr<Job>& job, std::function<void()> take) {
  // The event dies with this object; the thread has ended before.
  QMetaObject::invokeMethod(
      this,
      [this, job, take = std::move(take)] {
        if (job != job_) return;
        take();
        emit changed();
      },
      Qt::QueuedConnection);
}

void PlanSearcher::work(const std::shared_ptr<Job>& job, const Scenario& scenario, const Exploration& exploration,
                        const std::vector<Strategy>& strategies) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), below_painting);
  QString failure;
  try {
    const Scenario left = left_to_search(scenario);
    const PlanTrials trials = trials_of(left, add_host_scratch);
    const Judgement now = trials.make_judge()(left.plan);
    post(job, [this, now] { now_ = now; });
    for (const Strategy strategy : strategies) {
      PlanSearch how;
      how.strategy = strategy;
      how.how = exploration;
      // Called by any of the search's threads.
      std::mutex mutex;
      auto reported_at = std::chrono::steady_clock::now();
      const QString name = name_for_people(strategy);
      auto report =
          std::make_shared<const PlanSearchReport>(search_plans(trials, how, [&](std::string_view doing, double) {
            if (job->stopped) throw Stopped{};
            const std::lock_guard lock(mutex);
            const auto time = std::chrono::steady_clock::now();
            if (time - reported_at < progress_every) return;
            reported_at = time;
            const QString words =
                name + QStringLiteral(": ") + QString::fromUtf8(doing.data(), static_cast<int>(doing.size()));
            post(job, [this, words] { progress_words_ = words; });
          }));
      post(job, [this, strategy, report] { reports_[strategy] = report; });
    }
  } catch (const Stopped&) {
    return;  // it was stopped on request
  } catch (const std::exception& error) {
    failure = QString::fromUtf8(error.what());
  }
  post(job, [this, failure] {
    running_ = false;
    failure_ = failure;
    progress_words_.clear();
  });
}

bool same_search(const Scenario& searched, const Scenario& now) {
  if (searched.plan.ranks() != now.plan.ranks()) return false;
  // The keys that a search chooses are set equal; the others must be equal.
  const auto rest = [](const PlanSpec& plan) {
    const Space space = plan_space({PlanSpec{}});
    return with_values(plan, space.knobs(), space.at(0));
  };
  const auto same = [&](auto Scenario::*member) { return searched.*member == now.*member; };
  return rest(searched.plan) == rest(now.plan) && same(&Scenario::model) && same(&Scenario::cluster) &&
         same(&Scenario::fault) && searched.train.global_batch == now.train.global_batch &&
         searched.train.optimizer == now.train.optimizer;
}

}  // namespace rankscope::app
