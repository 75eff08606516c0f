#include "engine/explain/analyse/report_value.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

std::vector<std::string> keys_of(const std::string& path) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('.', begin);
    keys.push_back(path.substr(begin, end - begin));
    if (end == std::string::npos) return keys;
    begin = end + 1;
  }
}

/// The list's entry for `name`: a rank, a purpose, an optimizer, or else an index.
const nlohmann::json* entry_of(const nlohmann::json& list, const std::string& name) {
  const auto number = number_in<int>(name);
  for (const nlohmann::json& entry : list) {
    if (!entry.is_object()) continue;
    if (number && entry.contains("rank") && entry["rank"] == *number) return &entry;
    for (const char* key : {"purpose", "optimizer"})
      if (entry.contains(key) && entry[key] == name) return &entry;
  }
  const bool has_ranks = !list.empty() && list.front().is_object() && list.front().contains("rank");
  if (number && *number >= 0 && static_cast<std::size_t>(*number) < list.size() && !has_ranks)
    return &list[static_cast<std::size_t>(*number)];
  return nullptr;
}

std::optional<double> number_in(const nlohmann::json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::vector<double> series_in(const nlohmann::json& root, const std::string& path) {
  const std::vector<std::string> keys = keys_of(path);
  std::vector<double> series;
  if (keys.size() != 3 || keys[1] != "*") return series;
  const auto list = root.find(keys[0]);
  if (list == root.end() || !list->is_array()) return series;
  for (const nlohmann::json& entry : *list) {
    const auto value = entry.find(keys[2]);
    series.push_back(value != entry.end() ? number_in(*value).value_or(std::nan("")) : std::nan(""));
  }
  return series;
}

/// The measured value is null if nothing ran; its prediction is a separate entry.
nlohmann::json with_predictions(const Report& report) {
  nlohmann::json root = to_json(report);
  for (const char* name : {"bubble", "bubble_span"})
    if (root[name]["measured"].is_null()) root[name]["measured"] = root[name]["predicted"];
  for (nlohmann::json& row : root["memory"]) {
    const nlohmann::json predicted = row["predicted"];
    for (const auto& [key, value] : predicted.items())
      if (row.contains(key) && row[key].is_null()) row[key] = value;
  }
  for (nlohmann::json& row : root["traffic"])
    if (row["bytes_per_rank"].is_null()) row["bytes_per_rank"] = row["predicted"];
  if (root["step_seconds"].is_null() && std::isfinite(report.predicted_step_seconds))
    root["step_seconds"] = report.predicted_step_seconds;
  return root;
}

}  // namespace

std::optional<double> value_at(const nlohmann::json& root, const std::string& path) {
  const nlohmann::json* at = &root;
  for (const std::string& key : keys_of(path)) {
    if (at->is_object()) {
      const auto found = at->find(key);
      if (found == at->end()) return std::nullopt;
      at = &*found;
    } else if (at->is_array()) {
      at = entry_of(*at, key);
      if (at == nullptr) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return number_in(*at);
}

std::optional<double> value_at(const Report& report, const std::string& path) {
  return value_at(to_json(report), path);
}

std::vector<double> series_at(const Report& report, const std::string& path) {
  return series_in(to_json(report), path);
}

std::optional<double> simulated_value_at(const Report& report, const std::string& path) {
  return value_at(with_predictions(report), path);
}

std::vector<double> simulated_series_at(const Report& report, const std::string& path) {
  return series_in(with_predictions(report), path);
}

}  // namespace rankscope
