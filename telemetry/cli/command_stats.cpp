#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/facts/facts.hpp"
#include "engine/scenario/read.hpp"
#include "telemetry/cli/commands.hpp"

namespace rankscope {

int show_stats(const std::string& trace, bool json) {
  RunStore store;
  DamageReport damage;
  read_trace(trace, store, {}, &damage);
  tell_damage(trace, damage);
  const auto view = store.view();
  if (!view->hello()) throw InputError(trace + ": the run's first message is missing, so its numbers mean nothing");
  if (view->hello()->scenario_toml.empty())
    throw InputError(trace + ": it carries no scenario, so what its numbers should be compared with is unknown");
  Report report;
  try {
    report = make_report(facts_of_run(*view, context_of(*view)));
  } catch (const ScenarioError& error) {
    throw InputError(trace + ": its scenario: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw InputError(trace + ": its program: " + error.what());
  }
  if (json) {
    std::cout << to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << to_text(report);
  }
  return 0;
}

}  // namespace rankscope
