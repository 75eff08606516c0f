#include "engine/explain/validate/leave_one_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace rankscope {
namespace {

constexpr double apart = 1.05;  // of an efficiency, between the points that a slope is computed from

bool is_time(const PublishedTable& table) {
  return table.quantity == Quantity::step_seconds || table.quantity == Quantity::block_forward_seconds ||
         table.quantity == Quantity::block_backward_seconds;
}

const ClusterSpec& cluster_of(const PublishedTable& table) { return table.rows.front().choices.front().cluster; }

bool same_device(const PublishedTable& a, const PublishedTable& b) {
  const ClusterSpec &x = cluster_of(a), &y = cluster_of(b);
  return x.peak_flops_fp16 == y.peak_flops_fp16 && x.memory_bandwidth == y.memory_bandwidth &&
         x.product_efficiency == y.product_efficiency && x.memory_efficiency == y.memory_efficiency;
}

PublishedTable with_efficiencies(PublishedTable table, double product, double memory) {
  for (PublishedRow& row : table.rows)
    for (Scenario& choice : row.choices) {
      choice.cluster.product_efficiency = std::min(1.0, product);
      choice.cluster.memory_efficiency = std::min(1.0, memory);
    }
  return table;
}

/// Of a row: ln(predicted / published) with the files unchanged, and its slopes by ln of the two efficiencies.
struct Slope {
  double residual = 0, product = 0, memory = 0;
};

std::vector<Slope> slopes_of(const PublishedTable& table) {
  const ClusterSpec& cluster = cluster_of(table);
  const double p = cluster.product_efficiency, m = cluster.memory_efficiency;
  const ValidatedTable here = validate(table), product = validate(with_efficiencies(table, p / apart, m)),
                       memory = validate(with_efficiencies(table, p, m / apart));
  std::vector<Slope> slopes;
  for (std::size_t i = 0; i < here.rows.size(); ++i) {
    const double at = std::log(here.rows[i].predicted());
    slopes.push_back({at - std::log(here.rows[i].published),
                      (at - std::log(product.rows[i].predicted())) / std::log(apart),
                      (at - std::log(memory.rows[i].predicted())) / std::log(apart)});
  }
  return slopes;
}

/// The change of both logarithms that minimizes the sum of squared residuals.
std::array<double, 2> least_squares(const std::vector<Slope>& rows) {
  double pp = 0, mm = 0, pm = 0, p = 0, m = 0;
  for (const Slope& row : rows) {
    pp += row.product * row.product;
    mm += row.memory * row.memory;
    pm += row.product * row.memory;
    p -= row.product * row.residual;
    m -= row.memory * row.residual;
  }
  const double determinant = pp * mm - pm * pm;
  if (std::abs(determinant) < 1e-12) return {0, 0};
  return {(p * mm - m * pm) / determinant, (m * pp - p * pm) / determinant};
}

}  // namespace

std::vector<LeftOutTable> leave_one_out(const std::vector<PublishedTable>& tables) {
  std::vector<const PublishedTable*> timed;
  for (const PublishedTable& table : tables)
    if (table.judged && !table.held_out && is_time(table) && !table.rows.empty()) timed.push_back(&table);
  std::vector<std::vector<Slope>> slopes;
  for (const PublishedTable* table : timed) slopes.push_back(slopes_of(*table));
  std::vector<LeftOutTable> result;
  for (std::size_t left = 0; left < timed.size(); ++left) {
    std::vector<Slope> others;
    for (std::size_t i = 0; i < timed.size(); ++i)
      if (i != left && same_device(*timed[i], *timed[left]))
        others.insert(others.end(), slopes[i].begin(), slopes[i].end());
    if (others.empty()) continue;
    const auto [product, memory] = least_squares(others);
    const ClusterSpec& cluster = cluster_of(*timed[left]);
    LeftOutTable out{timed[left]->file,
                     timed[left]->title,
                     std::min(1.0, cluster.product_efficiency * std::exp(product)),
                     std::min(1.0, cluster.memory_efficiency * std::exp(memory)),
                     0,
                     0};
    const ValidatedTable without =
        validate(with_efficiencies(*timed[left], out.product_efficiency, out.memory_efficiency));
    for (const ValidatedRow& row : without.rows) {
      out.mean_error += std::abs(row.error()) / static_cast<double>(without.rows.size());
      out.worst_error = std::max(out.worst_error, std::abs(row.error()));
    }
    result.push_back(std::move(out));
  }
  return result;
}

nlohmann::json to_json(const std::vector<LeftOutTable>& tables) {
  nlohmann::json all = nlohmann::json::array();
  for (const LeftOutTable& table : tables)
    all.push_back({{"table", table.file},
                   {"title", table.title},
                   {"product_efficiency", table.product_efficiency},
                   {"memory_efficiency", table.memory_efficiency},
                   {"mean_error", table.mean_error},
                   {"worst_error", table.worst_error}});
  return {{"leave_one_out", std::move(all)}};
}

std::string to_text(const std::vector<LeftOutTable>& tables) {
  std::string text =
      "Each table, predicted with the product and memory efficiencies fitted to the device's other tables\n";
  std::size_t width = 0;
  for (const LeftOutTable& table : tables) width = std::max(width, table.title.size());
  for (const LeftOutTable& table : tables)
    text +=
        fmt::format("  {:<{}}  product {:.3f}  memory {:.3f}  mean {:.1f} %, worst {:.1f} %\n", table.title, width,
                    table.product_efficiency, table.memory_efficiency, 100 * table.mean_error, 100 * table.worst_error);
  return text;
}

}  // namespace rankscope
