// Every key of a scenario file, once: reading, overriding, writing and range checks all use this table.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// The location of a key's value in a Scenario. An optional one is empty if the scenario does not set it.
using Field = std::variant<int*, double*, std::uint64_t*, bool*, std::string*, AnyChoice*, std::optional<int>*,
                           std::optional<double>*, std::optional<bool>*>;
/// The value in the form of --set; empty if it is not set.
std::string written(const Field& field);
/// False for an empty optional.
bool given(const Field& field);

/// The numbers that a key accepts; both ends are included unless stated otherwise.
struct Range {
  double least = 0, greatest = 0;
  bool open_below = false;  ///< greater than `least`, not equal to it
  bool open_above = false;  ///< less than `greatest`, not equal to it
  bool holds(double value) const {
    return (open_below ? value > least : value >= least) && (open_above ? value < greatest : value <= greatest);
  }
};

inline constexpr std::string_view plan_table = "plan", cluster_table = "cluster", software_table = "software";

struct Key {
  std::string_view table, name;
  Field (*field)(Scenario&);
  std::string_view meaning;  ///< one phrase, with the unit
  Range range = {};          ///< of a number
  bool only_read = false;    ///< reading turns it into another key's value; it is written nowhere
  std::string path() const { return std::string(table) + "." + std::string(name); }
  bool is_of_plan() const { return table == plan_table; }
  /// A figure of a cluster: its file may have it, and it describes the machine or its software. `spec` only
  /// names the file.
  bool is_of_cluster() const { return (table == cluster_table && name != "spec") || table == software_table; }
};

/// In the order in which to_toml writes them.
std::span<const Key> scenario_keys();
/// The tables in that order.
std::vector<std::string_view> scenario_tables();
/// nullptr if there is none. `path` is "table.name"; keys of [software] are also found in [cluster], where files that
/// were written before it became a separate table have them.
const Key* find_key(std::string_view path);

/// The most similar word in `known`; empty if none is similar.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// "did you mean 'walls'?"; `otherwise` if no word is similar.
std::string nearest_or(std::string_view word, const std::vector<std::string>& known, const std::string& otherwise);
/// The shortest text of a number that reads back as the same value.
std::string plain(double value);

}  // namespace rankscope
