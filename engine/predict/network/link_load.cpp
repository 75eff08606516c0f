#include "engine/predict/network/link_load.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "engine/plan/collective/cost.hpp"
#include "engine/plan/program/communication.hpp"

namespace rankscope {
namespace {

/// Bytes that each member of a ring of n sends on average; S is the complete tensor.
double sent_in_ring(OpKind kind, double whole, int n) {
  return (kind == OpKind::all_reduce ? 2.0 : 1.0) * (n - 1) / n * whole;
}

}  // namespace

std::vector<Flow> flows_of(std::span<const RankProgram> programs, const RankGrid& grid,
                           Choice<CollectiveChoice> collective) {
  const std::optional<Algorithm> named = algorithm_of(collective);
  std::map<std::tuple<OpKind, int, std::int64_t>, std::vector<PairElements>> lists;  // many ops have the same
  std::map<std::tuple<int, int, Purpose>, double> sums;
  for (const RankProgram& program : programs)
    for (const Op& op : program.ops) {
      const OpFields fields = op.id.fields();
      if (fields.kind == OpKind::send) {
        sums[{program.rank, op.peer, fields.purpose}] += static_cast<double>(program.payload_bytes(op));
        continue;
      }
      if (!is_collective(fields.kind)) continue;
      const std::vector<int> group = grid.group_of(program.rank, op.group);
      const auto n = static_cast<int>(group.size());
      const auto self = std::find(group.begin(), group.end(), program.rank);
      if (n < 2 || self == group.end()) continue;
      const std::int64_t whole = whole_bytes(program, op, n);
      if (named && *named != Algorithm::ring) {
        const auto [list, made] = lists.try_emplace({fields.kind, n, whole});
        if (made) list->second = pair_elements(fields.kind, named, n, (whole + n - 1) / n * n);
        for (const PairElements& pair : list->second)
          if (pair.from == self - group.begin())
            sums[{program.rank, group[pair.to], fields.purpose}] += static_cast<double>(pair.elements);
        continue;
      }
      const int next = group[(self - group.begin() + 1) % n];
      sums[{program.rank, next, fields.purpose}] += sent_in_ring(fields.kind, static_cast<double>(whole), n);
    }
  std::vector<Flow> flows;
  flows.reserve(sums.size());
  for (const auto& [key, bytes] : sums) flows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), bytes});
  return flows;
}

std::vector<std::vector<LinkLoad>> link_loads(std::span<const NetworkLevel> levels, std::span<const Flow> flows,
                                              int ranks) {
  std::vector<std::vector<LinkLoad>> loads;
  for (const NetworkLevel& level : levels) {
    std::vector<LinkLoad>& units =
        loads.emplace_back(static_cast<std::size_t>((ranks + level.devices - 1) / level.devices));
    for (const Flow& flow : flows) {
      const auto from = static_cast<std::size_t>(flow.from / level.devices);
      const auto to = static_cast<std::size_t>(flow.to / level.devices);
      if (from == to || from >= units.size() || to >= units.size()) continue;
      units[from].out += flow.bytes;
      units[from].out_by_purpose[static_cast<std::size_t>(flow.purpose)] += flow.bytes;
      units[to].in += flow.bytes;
    }
  }
  return loads;
}

double utilisation(const LinkLoad& load, const NetworkLevel& level, double step_seconds) {
  return std::max(load.out, load.in) / (level.way_out * step_seconds);
}

}  // namespace rankscope
