#include <nlohmann/json.hpp>

#include "engine/explain/analyse/figure_json.hpp"
#include "engine/explain/validate/validate.hpp"

namespace rankscope {

using figure::known;

nlohmann::json to_json(const std::vector<ValidatedTable>& tables) {
  nlohmann::json all = nlohmann::json::array();
  for (const ValidatedTable& table : tables) {
    nlohmann::json rows = nlohmann::json::array();
    for (const ValidatedRow& row : table.rows)
      rows.push_back({{"name", row.name},
                      {"published", row.published},
                      {"predicted", known(row.predicted())},
                      {"low", known(row.low)},
                      {"high", known(row.high)},
                      {"width", known(row.width())},
                      {"error", known(row.error())},
                      {"uncertainty", row.uncertainty > 0 ? nlohmann::json(row.uncertainty) : nlohmann::json(nullptr)},
                      {"fitted", row.fitted}});
    all.push_back({{"table", table.file},
                   {"title", table.title},
                   {"source", table.source},
                   {"constants", table.constants},
                   {"unit", table.unit},
                   {"judged", table.judged},
                   {"held_out", table.held_out},
                   {"rows", std::move(rows)},
                   {"mean_error", known(table.mean_error)},
                   {"worst_error", known(table.worst_error)},
                   {"kendalls_tau", known(table.tau)}});
  }
  return {{"tables", std::move(all)}};
}

}  // namespace rankscope
