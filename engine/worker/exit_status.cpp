#include "engine/worker/exit_status.hpp"

#include <fmt/format.h>

namespace rankscope::status {

std::string help() {
  std::string text = "Exit statuses:\n";
  for (const Row& row : table) text += fmt::format("  {:>2}  {:<15}  {}\n", row.number, row.name, row.meaning);
  return text;
}

}  // namespace rankscope::status
