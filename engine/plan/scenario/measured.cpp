#include "engine/plan/scenario/measured.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const toml::source_position& at, const std::string& what) {
  throw ScenarioError(fmt::format("{}:{}:{}: {}", file.string(), at.line, at.column, what));
}

MeasuredCost cost_of(const std::filesystem::path& file, const toml::node& node) {
  const toml::table* row = node.as_table();
  if (!row) refuse(file, node.source().begin, "a row is a table");
  MeasuredCost cost;
  cost.op = (*row)["op"].value_or(std::string());
  cost.precision = (*row)["precision"].value_or(std::string());
  cost.flops = (*row)["flops"].value_or(0.0);
  cost.bytes = (*row)["bytes"].value_or(0.0);
  cost.seconds = (*row)["seconds"].value_or(0.0);
  cost.walked_bytes = (*row)["walked_bytes"].value_or(0.0);
  if (cost.op.empty() || cost.precision.empty() || !(cost.seconds > 0) || cost.flops < 0 || cost.bytes < 0 ||
      cost.walked_bytes < 0)
    refuse(file, node.source().begin, "a row has op, precision, flops, bytes, and seconds greater than 0");
  return cost;
}

}  // namespace

MeasuredTable read_measured(const std::filesystem::path& file) {
  try {
    const toml::table root = toml::parse_file(file.string());
    MeasuredTable table;
    table.title = root["title"].value_or(std::string());
    table.source = root["source"].value_or(std::string());
    const toml::array* rows = root["rows"].as_array();
    if (table.title.empty() || table.source.empty() || !rows)
      refuse(file, root.source().begin, "a file of measured ops has a title, a source and rows");
    for (const toml::node& row : *rows) table.rows.push_back(cost_of(file, row));
    return table;
  } catch (const toml::parse_error& error) {
    refuse(file, error.source().begin, std::string(error.description()));
  }
}

std::string to_toml(const MeasuredTable& table) {
  std::string text = "title = \"" + table.title + "\"\nsource = \"" + table.source + "\"\n\nrows = [\n";
  for (const MeasuredCost& row : table.rows)
    text += fmt::format("  {{ op = \"{}\", precision = \"{}\", flops = {}, bytes = {}{}, seconds = {} }},\n", row.op,
                        row.precision, plain(row.flops), plain(row.bytes),
                        row.walked_bytes > 0 ? ", walked_bytes = " + plain(row.walked_bytes) : "", plain(row.seconds));
  return text + "]\n";
}

}  // namespace rankscope
