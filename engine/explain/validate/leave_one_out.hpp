// How much a table's errors depend on constants fitted to it or to similar tables: the constants are fitted again
// without it.
#pragma once
#include <string>
#include <vector>

#include "engine/explain/validate/validate.hpp"

namespace rankscope {

struct LeftOutTable {
  std::string file, title;
  /// cluster.product_efficiency and memory_efficiency that fit all other tables of the device best.
  double product_efficiency = 0, memory_efficiency = 0;
  double mean_error = 0, worst_error = 0;  ///< absolute, over all rows of the table, with these
};

/// Of the judged tables of times that are not held out, by the device that their clusters share (product and memory
/// efficiency and peak as given): both efficiencies are set to minimise the sum of squared logarithms of predicted
/// over published, over all rows of the other tables. Logarithms of times are assumed to be linear in those of the
/// efficiencies between points 5 % apart; the errors are then of the model itself. Tables whose device has no other
/// table are omitted.
std::vector<LeftOutTable> leave_one_out(const std::vector<PublishedTable>& tables);

nlohmann::json to_json(const std::vector<LeftOutTable>& tables);
std::string to_text(const std::vector<LeftOutTable>& tables);

}  // namespace rankscope
