#include "engine/lesson/lab/view_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/lesson/lab/typed_number.hpp"
#include "engine/lesson/puzzle/puzzle.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

using Fault = std::string (*)(std::string_view key, std::string_view value);

struct Input {
  std::string_view view, key;
  Fault fault;
};

std::string fault_of_number(std::string_view key, std::string_view value) {
  std::string error;
  return typed_number(value, &error) ? "" : fmt::format("{} takes a number; {}", key, error);
}

std::string fault_of_page(std::string_view, std::string_view value) {
  const bool known = contains(formats_pages, value);
  return known ? "" : fmt::format("page is one of {}", fmt::join(formats_pages, ", "));
}

template <int least, int most>
std::string fault_of_count(std::string_view key, std::string_view value) {
  const auto count = number_in<int>(value);
  return count && *count >= least && *count <= most ? "" : fmt::format("{} is from {} to {}", key, least, most);
}

std::string fault_of_table(std::string_view, std::string_view value) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : resource_files("published")) names.push_back(file.stem().string());
  const bool known = contains(names, value);
  return known ? "" : fmt::format("table is one of {}", fmt::join(names, ", "));
}

constexpr Input inputs[] = {
    {"formats", "value", fault_of_number},
    {"formats", "update", fault_of_number},
    {"formats", "page", fault_of_page},
    {"puzzle", "stages", fault_of_count<least_puzzle_stages, most_puzzle_stages>},
    {"puzzle", "micro_batches", fault_of_count<1, most_puzzle_micro_batches>},
    {"puzzle", "kept", fault_of_count<0, most_puzzle_micro_batches>},
    {"puzzle", "halves", fault_of_count<0, 1>},
    {"validation", "table", fault_of_table},
};

}  // namespace

std::vector<std::string_view> inputs_of(std::string_view view) {
  std::vector<std::string_view> keys;
  for (const Input& input : inputs)
    if (input.view == view) keys.push_back(input.key);
  return keys;
}

std::string fault_of_input(std::string_view view, std::string_view key, std::string_view value) {
  for (const Input& input : inputs)
    if (input.view == view && input.key == key) return input.fault(key, value);
  const auto keys = inputs_of(view);
  return fmt::format("unknown parameter '{}'; give step, rank or op{}{}", key, keys.empty() ? "" : ", or ",
                     fmt::join(keys, ", "));
}

}  // namespace rankscope
