#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/explain/validate/validate.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

using figure::percent;

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string unit_words(const std::string& unit) {
  return unit == "x" ? "a ratio" : unit == "B" ? "in billions" : "in " + unit;
}

std::string of_row(const ValidatedRow& row, std::size_t width) {
  std::string text = fmt::format("  {:<{}} {:>10.4g} {:>10.4g} {:>10}", row.name, width, row.published, row.predicted(),
                                 signed_percent(row.error()));
  if (row.uncertainty > 0) text += fmt::format(" ± {:.1f} %", 100 * row.uncertainty);
  if (row.width() > 0) text += fmt::format("  from {:.4g} to {:.4g}, {:.2g} wide", row.low, row.high, row.width());
  if (row.fitted) text += "  fitted to";
  return text + "\n";
}

}  // namespace

std::string to_text(const std::vector<ValidatedTable>& tables) {
  std::string text;
  for (const ValidatedTable& table : tables) {
    std::size_t width = 12;
    for (const ValidatedRow& row : table.rows) width = std::max(width, row.name.size());
    text += fmt::format("{}{}\n  source     {}\n  constants  {}\n", text.empty() ? "" : "\n", table.title, table.source,
                        table.constants);
    text += fmt::format("  {:<{}} {:>10} {:>10} {:>10}\n", unit_words(table.unit), width, "published", "predicted",
                        "error");
    for (const ValidatedRow& row : table.rows) text += of_row(row, width);
    text +=
        fmt::format("  {:<{}} mean {}, worst {}, Kendall's tau {}{}{}\n", "not fitted to", width,
                    percent(table.mean_error), percent(table.worst_error), figure::number(table.tau, "{:.2f}"),
                    table.held_out ? "; held out, nothing was fitted to it" : "", table.judged ? "" : "; shown only");
  }
  return text;
}

}  // namespace rankscope
