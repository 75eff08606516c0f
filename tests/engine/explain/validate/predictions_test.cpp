// Compares the prediction of every published row with the stored one. The limits in validate_test.cpp state how
// accurate the simulator is, but they would not detect a lost cost with a small effect. Here, each change of the
// simulator shows in the rows that it changes.
//
// If a change is intended: the test writes the new file and prints how to replace the stored one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/explain/validate/validate.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

const std::filesystem::path kept_file =
    std::filesystem::path(test::source_folder()) / "tests/engine/explain/validate/predictions.tsv";

struct Range {
  double low = 0, high = 0;
};
/// By "table, tab, row"; a key may occur several times.
using Predictions = std::multimap<std::string, Range>;

Predictions predict_all() {
  Predictions all;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/scenarios/published"))
    for (const ValidatedTable& table : {validate(read_published(entry.path()))})
      for (const ValidatedRow& row : table.rows) all.insert({table.file + "\t" + row.name, {row.low, row.high}});
  return all;
}

Predictions read_kept() {
  Predictions all;
  std::ifstream file(kept_file);
  std::string table, row, low, high;
  while (std::getline(file, table, '\t') && std::getline(file, row, '\t') && std::getline(file, low, '\t') &&
         std::getline(file, high))
    all.insert({table + "\t" + row, {std::stod(low), std::stod(high)}});
  return all;
}

bool same(double a, double b) { return std::abs(a - b) <= 2e-6 * std::max(std::abs(a), std::abs(b)); }
bool same(const Range& a, const Range& b) { return same(a.low, b.low) && same(a.high, b.high); }

}  // namespace

TEST_CASE("each published row's prediction is the stored one") {
  const Predictions now = predict_all(), kept = read_kept();
  REQUIRE(now.size() > 500);
  std::string moved;
  int rows = 0;
  auto old = kept.begin();
  for (const auto& [name, range] : now) {
    while (old != kept.end() && old->first < name) moved += fmt::format("{}: is gone\n", (old++)->first);
    const bool known = old != kept.end() && old->first == name;
    if (!known || !same(old->second, range)) {
      if (++rows <= 20)
        moved += known ? fmt::format("{}: {:.8g} to {:.8g}, was {:.8g} to {:.8g}\n", name, range.low, range.high,
                                     old->second.low, old->second.high)
                       : fmt::format("{}: is new\n", name);
    }
    if (known) ++old;
  }
  for (; old != kept.end(); ++old) moved += fmt::format("{}: is gone\n", old->first);
  if (!moved.empty()) {
    std::ofstream fresh("predictions.tsv");
    for (const auto& [name, range] : now) fresh << fmt::format("{}\t{:.8g}\t{:.8g}\n", name, range.low, range.high);
  }
  INFO(moved << rows << " rows are not as kept. If that is meant: cp "
             << (std::filesystem::current_path() / "predictions.tsv").string() << " " << kept_file.string());
  CHECK(moved.empty());
}

namespace {

/// Sets the key to its value in `from`.
void copy_value(const Key& key, Scenario from, Scenario& to) {
  std::visit(
      [&](auto* value) {
        using Value = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, AnyChoice>)
          value->take(std::get<AnyChoice*>(key.field(from))->name());
        else
          *value = *std::get<Value*>(key.field(from));
      },
      key.field(to));
}

/// Whether a row's prediction changes if its clusters do not set this key.
bool depends(const PublishedRow& row, Quantity quantity, const Key& key) {
  PublishedRow without = row;
  bool differs = false;
  for (std::vector<Scenario>* scenarios : {&without.choices, &without.against})
    for (Scenario& scenario : *scenarios) {
      const std::string had = written(key.field(scenario));
      copy_value(key, Scenario{}, scenario);
      differs |= written(key.field(scenario)) != had;
    }
  if (!differs) return false;
  try {
    return predictions(quantity, row) != predictions(quantity, without);
  } catch (const std::invalid_argument&) {  // one of the two is not folded: no evidence
    return false;
  }
}

}  // namespace

TEST_CASE("every switch of a cluster's software is one that some published row's prediction depends on") {
  std::vector<PublishedTable> tables;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/scenarios/published"))
    tables.push_back(read_published(entry.path()));
  std::vector<std::string> lost;
  int switches = 0;
  for (const Key& key : scenario_keys()) {
    if (key.table != "software" || key.name == "stack") continue;  // which names the file of the others
    ++switches;
    const bool found = std::any_of(tables.begin(), tables.end(), [&](const PublishedTable& table) {
      return std::any_of(table.rows.begin(), table.rows.end(),
                         [&](const PublishedRow& row) { return depends(row, table.quantity, key); });
    });
    if (!found) lost.emplace_back(key.name);
  }
  CHECK(switches > 20);
  // Plans with the engine's collectives, or without the second switch, are not folded: laid_out_test.cpp and
  // host_copies_test.cpp of tests/engine/predict/simulate test them.
  CHECK(lost == std::vector<std::string>{"collectives", "host_gradients"});
}
