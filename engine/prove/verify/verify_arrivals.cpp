#include "engine/prove/verify/verify_arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/op/words.hpp"
#include "engine/prove/verify/parity.hpp"
#include "engine/prove/verify/replay.hpp"

namespace rankscope {
namespace {

/// The contributions that a server received, in order.
struct Arrival {
  Contribution contribution;
  parity::BufferHistories gradients;
};

/// Watches one server: while its lane has launched an update and no later op, the gradients that it reads are
/// still valid.
class WatchedServer {
 public:
  explicit WatchedServer(RankRun& run) : run_(run), gradients_(parity::compared_gradients(run.program())) {}
  void launched(OpIndex op, std::uint32_t step) {
    const OpId id = run_.program().ops[op].id;
    const OpFields f = id.fields();
    if (f.kind != OpKind::optimizer) return;
    Arrival& arrival = arrivals.emplace_back(Arrival{{f.micro_batch, step}, {}});
    for (const auto& [buffer, history] : gradients_) {
      if (run_.program().buffers[buffer].micro_batch != f.micro_batch) continue;
      parity::ValueHistory& now = arrival.gradients[buffer] = history;
      now.at.push_back(parity::values_of(run_.read(buffer, id.lane()).view()));
    }
  }

  std::vector<Arrival> arrivals;

 private:
  RankRun& run_;
  parity::BufferHistories gradients_;
};

struct Watched {
  std::vector<std::unique_ptr<WatchedServer>> servers;
  std::vector<parity::BufferHistories> parameters;  ///< [rank]: at the end
  parity::Losses losses;
};

void watch(const StepProgram& step, RunSettings settings, Watched& watched) {
  const int workers = step.grid.workers();
  watched.servers.resize(step.grid.servers);
  const auto server = [&](int rank) -> std::unique_ptr<WatchedServer>& { return watched.servers[rank - workers]; };
  settings.watch = [&](int rank, OpIndex op, std::uint32_t at) {
    if (rank >= workers) server(rank)->launched(op, at);
  };
  watched.parameters.resize(step.grid.size());
  settings.steps = parity::steps;
  run_loopback(
      step, settings, [&](int) { return &watched.losses; },
      [&](RankRun& run, int rank) {
        if (rank >= workers) server(rank) = std::make_unique<WatchedServer>(run);
        run.run(0, parity::steps);
        auto& parameters = watched.parameters[rank];
        parameters = parity::compared_parameters(step, run.program());
        parity::record_values(parameters, run);
      });
}

/// Each worker's steps in order, and no worker further ahead of another than the bound.
void check_order(int rank, const std::vector<Contribution>& served, const StepProgram& step) {
  std::vector<std::uint32_t> next(step.grid.workers());
  for (const Contribution& c : served) {
    const std::uint32_t oldest = *std::min_element(next.begin(), next.end());
    if (c.step != next[static_cast<std::size_t>(c.worker)]++ ||
        c.step - oldest > static_cast<std::uint32_t>(*step.arrivals_ahead()))
      throw RunFailure(rank, fmt::format("rank {} served worker {}'s step {} while another worker's step {} was not "
                                         "served yet: plan.staleness = {} allows {} between them",
                                         rank, c.worker, c.step, oldest, step.scenario.plan.staleness,
                                         counted(*step.arrivals_ahead(), "step")));
  }
}

using Served = std::vector<std::vector<Contribution>>;

/// [server]: its served contributions, in order.
Served served_in(const Watched& watched, const StepProgram& step) {
  Served served;
  for (const auto& server : watched.servers) {
    auto& order = served.emplace_back();
    for (const Arrival& arrival : server->arrivals) order.push_back(arrival.contribution);
    check_order(step.grid.workers() + static_cast<int>(served.size()) - 1, order, step);
  }
  return served;
}

double mean_loss(const Replay& replay, int workers, std::uint32_t step) {
  double loss = 0;
  for (int w = 0; w < workers; ++w) loss += replay.losses.at({w, step}) / workers;
  return loss;
}

}  // namespace

struct ComparedArrivals::Both {
  Both(const StepProgram& program, const RunSettings& run_settings, std::uint32_t judged)
      : step(program), settings(run_settings), gradient_steps(judged) {}

  const ParameterSpec& spec_of(int parameter) const { return step.model.parameters[parameter]; }
  std::map<Contribution, parity::GradientNorms> norms() const {
    std::map<Contribution, parity::GradientNorms> norms;
    for (const auto& [contribution, gradients] : truth.gradients)
      for (const auto& [parameter, gradient] : gradients) norms[contribution].add(spec_of(parameter).name, gradient);
    return norms;
  }

  const StepProgram& step;
  const RunSettings& settings;
  std::uint32_t gradient_steps;
  Watched watched;
  Served served;
  Replay truth;
};

ComparedArrivals::ComparedArrivals(const StepProgram& step, const RunSettings& settings, std::uint32_t gradient_steps)
    : both_(std::make_unique<Both>(step, settings, gradient_steps)) {
  watch(step, settings, both_->watched);
  both_->served = served_in(both_->watched, step);
  both_->truth = replay(step, both_->served, settings);
}

ComparedArrivals::~ComparedArrivals() = default;

const std::vector<StepSummary>& ComparedArrivals::summaries() const { return both_->watched.losses.summaries(); }

ParityErrors ComparedArrivals::errors() const {
  const auto& [step, settings, gradient_steps, watched, served, truth] = *both_;
  const int workers = step.grid.workers();
  parity::Judge judge(step.model);
  for (std::uint32_t s = 0; s < parity::steps; ++s) judge.loss(s, watched.losses.mean(s), mean_loss(truth, workers, s));
  const std::map<Contribution, parity::GradientNorms> norms = both_->norms();
  for (int rank = workers; rank < step.grid.size(); ++rank)
    for (const Arrival& arrival : watched.servers[rank - workers]->arrivals) {
      const Contribution& c = arrival.contribution;
      if (c.step >= gradient_steps) continue;
      for (const auto& [buffer, history] : arrival.gradients) {
        const ParameterSpec& spec = both_->spec_of(history.parameter);
        const parity::Share share(spec, history, 0);
        judge.gradient(c.step, history.at.front(), share.of(truth.gradients.at(c).at(history.parameter)),
                       share.root() * norms.at(c).of(spec.name),
                       fmt::format("{} of worker {}, step {} on rank {}", spec.name, c.worker, c.step, rank));
      }
    }
  for (int rank = 0; rank < step.grid.size(); ++rank)
    for (const auto& [buffer, history] : watched.parameters[rank]) {
      const int p = history.parameter;
      const WholeValues& before = history.is_rounded ? truth.rounded_before : truth.before;
      const WholeValues& after = rank < workers       ? truth.pulled[rank]
                                 : history.is_rounded ? truth.rounded_after
                                                      : truth.after;
      judge.parameter(history, {both_->spec_of(p), history, 0}, before.at(p), after.at(p),
                      fmt::format("{} on rank {}", both_->spec_of(p).name, rank));
    }
  return judge.errors();
}

ParityErrors ComparedArrivals::twin_errors(int twin) const {
  const auto& [step, settings, gradient_steps, watched, served, truth] = *both_;
  const int workers = step.grid.workers();
  const Replay changed = replay(step, served, settings, twin);
  parity::Judge judge(step.model);
  for (std::uint32_t s = 0; s < parity::steps; ++s)
    judge.loss(s, mean_loss(changed, workers, s), mean_loss(truth, workers, s));
  const std::map<Contribution, parity::GradientNorms> norms = both_->norms();
  for (const auto& [contribution, gradients] : changed.gradients)
    if (contribution.step < gradient_steps)
      for (const auto& [parameter, gradient] : gradients)
        judge.gradient(contribution.step, gradient, truth.gradients.at(contribution).at(parameter),
                       norms.at(contribution).of(both_->spec_of(parameter).name), both_->spec_of(parameter).name);
  for (const auto& [parameter, values] : changed.after) {
    const parity::ValueHistory history{parameter, false, 0, {values}};
    judge.parameter(history, {both_->spec_of(parameter), history, 0}, truth.before.at(parameter),
                    truth.after.at(parameter), both_->spec_of(parameter).name);
  }
  return judge.errors();
}

}  // namespace rankscope
