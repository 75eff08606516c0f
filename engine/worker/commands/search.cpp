// `rankscope-engine search`: the best plans for a model on the same number of ranks. Nothing runs.
#include "engine/predict/search/search.hpp"

#include <fmt/format.h>

#include <iostream>

#include "engine/base/progress/progress_line.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/explain/facts/laid_out_trials.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/print.hpp"

namespace rankscope {

/// How plans are searched. `automatic`: bounded if plans fold, else exhaustive; `bounded` is search() (search.hpp), the
/// others are strategies of search_plans().
enum class SearchMethod : std::uint8_t { automatic, bounded, exhaustive, random, bayes };
template <>
inline constexpr auto word_table<SearchMethod> = word_list("auto", "bounded", name_of(Strategy::exhaustive),
                                                           name_of(Strategy::random), name_of(Strategy::bayes));

}  // namespace rankscope

namespace rankscope::command {
namespace {

constexpr std::size_t many_plans = 1000;

struct SearchRequest {
  Input input;
  Choice<SearchMethod> method = SearchMethod::automatic;
  PlanSearch how;
  std::string for_draws;  ///< the option given, if any, that only strategies that draw plans have
};

template <class Result>
int print_found(const Result& result, bool json) {
  print(result, json);
  return result.best.empty() ? status::failed : status::done;
}

Strategy strategy_of(SearchMethod method) {
  if (method == SearchMethod::random) return Strategy::random;
  return method == SearchMethod::bayes ? Strategy::bayes : Strategy::exhaustive;
}

void refuse_unused(const SearchRequest& request) {
  const SearchMethod method = request.method;
  if (request.for_draws.empty() || method == SearchMethod::random || method == SearchMethod::bayes) return;
  throw ScenarioError(request.for_draws +
                      ": only a strategy that draws plans has it; add --strategy bayes or --strategy random, or leave "
                      "it out");
}

int search_plans(const SearchRequest& request) {
  const Scenario scenario = read(request.input), left = left_to_search(scenario);
  if (scenario.cluster.lost_node >= 0 && !request.input.json)
    std::cout << "node " << scenario.cluster.lost_node << " is lost: plans of " << left.plan.ranks() << " ranks for "
              << left.train.global_batch << " samples a step\n";
  refuse_unused(request);
  const std::string why = why_not_folded(left);
  SearchMethod method = request.method;
  if (method == SearchMethod::automatic) method = why.empty() ? SearchMethod::bounded : SearchMethod::exhaustive;
  if (method == SearchMethod::bounded) {
    const SearchResult result = [&] {
      ProgressLine line("search");
      return search(left, request.how.keep, 0, line.progress());
    }();
    return print_found(result, request.input.json);
  }
  PlanSearch how = request.how;
  how.strategy = strategy_of(method);
  const PlanTrials trials = trials_of(left, add_host_scratch);
  if (how.strategy == Strategy::exhaustive && !why.empty() && trials.plans.size() > many_plans)
    std::cerr
        << fmt::format(
               "rankscope-engine: search simulates {} plans op by op, because {}; \"--strategy bayes --budget 200\" "
               "tries 200 of them",
               trials.plans.size(), why)
        << std::endl;
  const PlanSearchReport report = [&] {
    ProgressLine line("search");
    return rankscope::search_plans(trials, how, line.progress());
  }();
  return print_found(report, request.input.json);
}

}  // namespace

Command search(CLI::App& app) {
  const auto given = std::make_shared<SearchRequest>();
  auto* line = app.add_subcommand(
      "search", "find the best plans for the model on the same number of ranks of its cluster; nothing runs");
  add_input(line, given->input);
  line->add_option("--best", given->how.keep, "number of fastest plans to print")->check(whole_number(1));
  add_choice(line, "--strategy", given->method,
             "bounded: every plan, but only those that may be best are simulated (the default if plans "
             "fold); exhaustive: every plan is simulated; random; bayes: a random forest of the plans tried so far "
             "selects the next plan",
             {word_table<SearchMethod>.begin() + 1, word_table<SearchMethod>.end()});
  line->add_option("--budget", given->how.how.budget, "for random and bayes: number of plans to try")
      ->check(whole_number(1));
  line->add_option("--seed", given->how.how.seed, "for random and bayes: seed of the choice of plans");
  return {line, [given, line] {
            for (const char* option : {"--budget", "--seed"})
              if (line->count(option) > 0) given->for_draws = option;
            return search_plans(*given);
          }};
}

}  // namespace rankscope::command
