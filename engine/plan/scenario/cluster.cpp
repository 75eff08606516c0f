#include "engine/plan/scenario/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using document::Item;
using document::refuse;

bool computes(const Scenario& s) { return !s.model.is_collective(); }
bool exchanges(const Scenario& s) { return s.plan.ranks() > 1; }
bool exchanges_within(const Scenario& s) { return exchanges(s) && s.cluster.devices_per_node > 1; }
bool exchanges_between(const Scenario& s) { return s.plan.ranks() > s.cluster.devices_per_node; }
bool has_library(const Scenario& s) { return s.cluster.software.collectives == Collectives::library; }
template <DType type>
bool computes_in(const Scenario& s) {
  return computes(s) && s.compute_type() == type;
}

/// A figure that a prediction needs, and its value of a DGX A100 (scenarios/clusters/selene.toml has the sources; the
/// share of the network is that of scenarios/clusters/h100.toml).
struct Need {
  std::string_view name;
  bool (*of)(const Scenario&);
  std::string_view typical;
};
constexpr Need needs[] = {
    {"peak_flops_fp64", computes_in<DType::f64>, "19.5e12"},
    {"peak_flops_fp32", computes_in<DType::f32>, "19.5e12"},
    {"peak_flops_bf16", computes_in<DType::bf16>, "312e12"},
    {"peak_flops_fp16", computes_in<DType::f16>, "312e12"},
    {"memory_bytes", computes, "80e9"},
    {"memory_bandwidth", computes, "2e12"},
    {"op_overhead_s", computes, "3e-6"},
    {"multiprocessors", computes, "108"},
    {"product_efficiency", computes, "0.87"},
    {"memory_efficiency", computes, "0.6"},
    {"devices_per_node", exchanges, "8"},
    {"intra_latency_s", exchanges_within, "3e-6"},
    {"intra_bandwidth", exchanges_within, "300e9"},
    {"intra_efficiency", [](const Scenario& s) { return exchanges_within(s) && has_library(s); }, "0.78"},
    {"inter_latency_s", exchanges_between, "1e-5"},
    {"inter_bandwidth", exchanges_between, "25e9"},
    {"inter_efficiency", [](const Scenario& s) { return exchanges_between(s) && has_library(s); }, "0.94"},
};

/// A figure that only another one gives an effect.
struct Idle {
  std::string_view path;
  bool (*is_idle)(const ClusterSpec&);
  std::string_view because;  ///< and what would be right
};
constexpr auto no_tiles = [](const ClusterSpec& c) { return c.multiprocessors == 0; };
constexpr auto no_cards = [](const ClusterSpec& c) { return c.devices_per_card == 1; };
constexpr auto not_quick = [](const ClusterSpec& c) { return c.quick_share == 0; };
constexpr auto no_library = [](const ClusterSpec& c) { return c.software.collectives != Collectives::library; };
constexpr std::string_view give_multiprocessors = "products have tiles only with multiprocessors; give their number";
constexpr std::string_view give_cards = "there are no cards of several devices; give devices_per_card";
constexpr std::string_view give_quick = "there is no second protocol; give quick_share";
constexpr std::string_view give_library =
    "collectives are the engine's own lists; give collectives = \"library\" in [software]";
constexpr Idle idles[] = {
    {"cluster.tile_rows", no_tiles, give_multiprocessors},
    {"cluster.tile_columns", no_tiles, give_multiprocessors},
    {"cluster.cache_bandwidth", no_tiles, give_multiprocessors},
    {"cluster.flash_share", [](const ClusterSpec& c) { return c.software.attention != AttentionKernel::flash; },
     "attention is stored; give attention = \"flash\" in [software]"},
    {"cluster.idle_watts", [](const ClusterSpec& c) { return c.power_watts == 0; },
     "the power of a busy device is unknown; give power_watts"},
    {"cluster.card_latency_s", no_cards, give_cards},
    {"cluster.card_bandwidth", no_cards, give_cards},
    {"cluster.oversubscription", [](const ClusterSpec& c) { return c.nodes_per_switch == 0; },
     "all nodes are below one switch; give nodes_per_switch"},
    {"cluster.slow_node_factor", [](const ClusterSpec& c) { return c.slow_node < 0; },
     "no node is slow; give slow_node"},
    {"cluster.quick_intra_latency_s", not_quick, give_quick},
    {"cluster.quick_inter_latency_s", not_quick, give_quick},
    {"cluster.ring_fill", no_library, give_library},
    {"cluster.ring_ports", no_library, give_library},
};

/// Refuses a given figure, other than the default, that has no effect.
void refuse_idle(const Scenario& scenario, const std::string& name, const Places& places) {
  Scenario copy = scenario, plain_one;
  for (const Idle& idle : idles) {
    const Key& key = *find_key(idle.path);
    const std::string path(idle.path);
    if (!places.has(path) || !idle.is_idle(scenario.cluster)) continue;
    if (written(key.field(copy)) == written(key.field(plain_one))) continue;
    refuse(place_of({{path}, ""}, places, name),
           fmt::format("{0} has no effect: {1}, or remove {0}", key.name, idle.because));
  }
}

/// It belongs to a machine, and not to what happens on it, or to where its costs come from.
bool describes(const Key& key) {
  return key.table == cluster_table &&
         !contains(std::array<std::string_view, 5>{"spec", "measured", "lost_node", "slow_node", "slow_node_factor"},
                   key.name);
}

/// A file that a scenario names: the folder of its kind, and the key.
struct Named {
  std::string kind, key, word;
};
const Named a_cluster{"clusters", "cluster.spec", "cluster"}, a_stack{"software", "software.stack", "software"};

bool is_path(const std::string& text) { return text.find('/') != std::string::npos || text.ends_with(".toml"); }

/// The file, and its name or path as it is kept. A path in a scenario begins at the scenario's folder, one after --set
/// at the working directory. Empty if there is none.
fs::path file_of(const Named& named, std::string& text, const std::string& scenario_file, const Places& places) {
  if (!is_path(text)) {
    if (fs::path file = find_resource(named.kind, text, scenario_file); !file.empty()) return file;
    const fs::path file = find_resource(named.kind, lowered(text), scenario_file);
    if (!file.empty()) text = lowered(text);
    return file;
  }
  if (fs::path(text).is_relative()) {
    const bool is_typed = places.set.contains(named.key) || scenario_file.empty();
    const fs::path folder = is_typed ? fs::current_path() : fs::absolute(scenario_file).parent_path();
    text = (folder / text).lexically_normal().string();
  }
  std::error_code error;
  return fs::is_regular_file(text, error) ? fs::path(text) : fs::path();
}

[[noreturn]] void refuse_unknown(const Named& named, const std::string& text, const std::string& scenario_file,
                                 const Places& places) {
  const std::string at = place_of({{named.key}, ""}, places, scenario_file);
  if (is_path(text))
    refuse(at, fmt::format("there is no {} file '{}'; a path in a scenario begins at the scenario's folder, one after "
                           "--set at the working directory",
                           named.word, text));
  const std::vector<std::string> known = known_resources(named.kind, scenario_file);
  const std::string near = nearest(text, known);
  std::string right = known.empty() ? fmt::format(
                                          "put a file {}.toml into a folder `{}` beside the scenario, or set "
                                          "RANKSCOPE_RESOURCES to the folder that holds `{}`",
                                          text, named.kind, named.kind)
                                    : "known: " + listed(known) + "; or give the path of its file";
  if (!near.empty()) right = "did you mean '" + near + "'? " + right;
  refuse(at, fmt::format("unknown {} '{}'; {}", named.word, text, right));
}

/// Finds and reads the file: a scenario that has only a cluster, and what is given in it.
Scenario read_file(const Named& named, std::string& text, const std::string& scenario_file, const Places& places,
                   Places& given) {
  const fs::path file = file_of(named, text, scenario_file, places);
  if (file.empty()) refuse_unknown(named, text, scenario_file, places);
  Scenario of_file;
  given.name = file.string();
  for (const Item& item : document::parse_file(given.name)) {
    if (item.key == "title") continue;
    if (item.key != software_table && (item.key != cluster_table || named.kind == a_stack.kind))
      refuse(item.at, fmt::format("a {} file has no '{}'; it has a title and the {}", named.word, item.key,
                                  named.kind == a_stack.kind ? "table [software]" : "tables [cluster] and [software]"));
    read_table(item, of_file, given);
  }
  if (const auto complaint = complaint_about_names(given))
    refuse(place_of(*complaint, given, given.name), complaint->what);
  // The scenario's own figures are not yet included: an error in one of those is not in the file.
  if (const auto complaint = complaint_about_values(of_file);
      complaint && find_key(complaint->keys[0])->is_of_cluster())
    refuse(place_of(*complaint, given, given.name), complaint->what);
  refuse_idle(of_file, given.name, given);
  return of_file;
}

/// What a file gives and nothing before it did.
void complete(Scenario& scenario, Scenario& of_file, const Places& in_file, const std::vector<const Places*>& before) {
  for (const Key& key : scenario_keys()) {
    if (!key.is_of_cluster() || !in_file.has(key.path())) continue;
    if (std::ranges::any_of(before, [&](const Places* places) { return places->has(key.path()); })) continue;
    std::visit([&](auto* field) { *field = *std::get<decltype(field)>(key.field(of_file)); }, key.field(scenario));
  }
}

/// The figures of the files that the scenario names, where it gives none: of its stack in place of the cluster's
/// software, or of the cluster, then of the cluster's stack. `in_cluster`: what the cluster's file gives.
void read_files(Scenario& scenario, const std::string& name, const Places& places, bool has_figures,
                Places& in_cluster) {
  const bool has_stack = places.has(a_stack.key);
  if (!scenario.cluster.spec.empty() && !has_figures) {
    Scenario of_file = read_file(a_cluster, scenario.cluster.spec, name, places, in_cluster);
    if (has_stack)
      std::erase_if(in_cluster.file, [](const auto& given) { return given.first.starts_with("software."); });
    complete(scenario, of_file, in_cluster, {&places});
  }
  if (scenario.cluster.stack.empty()) return;
  Places in_stack;
  Scenario of_stack = read_file(a_stack, scenario.cluster.stack, has_stack ? name : in_cluster.name, places, in_stack);
  complete(scenario, of_stack, in_stack, {&places, &in_cluster});
}

/// "peak_flops_bf16 312e12, memory_bytes 80e9 and …": what is given neither there nor there.
std::string missing_figures(const Scenario& scenario, const Places& places, const Places& in_file) {
  const auto has = [&](const std::string& path) { return places.has(path) || in_file.has(path); };
  Scenario usual = scenario;  // what is needed of a network depends on the size of its nodes
  if (!has("cluster.devices_per_node")) usual.cluster.devices_per_node = 8;
  std::vector<std::string> words;
  for (const Need& need : needs)
    if (need.of(usual) && !has(fmt::format("{}.{}", cluster_table, need.name)))
      words.push_back(fmt::format("{} {}", need.name, need.typical));
  return words.empty() ? "" : listed(words);
}

/// True for a stored scenario, which has every figure and needs no file.
bool is_stored(const Places& places) {
  return std::ranges::all_of(scenario_keys(),
                             [&](const Key& key) { return key.table != cluster_table || places.has(key.path()); });
}

}  // namespace

void read_cluster(Scenario& scenario, const std::string& name, const Places& places) {
  std::vector<std::string> described;
  for (const Key& key : scenario_keys())
    if (describes(key) && places.has(key.path())) described.push_back(key.path());
  std::string& spec = scenario.cluster.spec;
  if (!places.has(a_cluster.key) && !described.empty()) spec.clear();
  const bool has_figures = is_stored(places);
  Places in_cluster;
  read_files(scenario, name, places, has_figures, in_cluster);
  const std::string missing = has_figures ? "" : missing_figures(scenario, places, in_cluster);
  if (!missing.empty() && !spec.empty())
    refuse(in_cluster.name + ":1:1",
           "the cluster's file lacks " + missing + "; give them (values: a DGX A100), and their sources");
  if (!missing.empty())
    refuse(place_of({described, ""}, places, name),
           "[cluster] lacks " + missing + "; add them (values: a DGX A100), or use spec = \"laptop\"");
  if (!has_figures) refuse_idle(scenario, name, places);
}

std::vector<ChangedFigure> changed_figures(const ClusterSpec& cluster) {
  Scenario asked, of_files;
  asked.cluster = cluster;
  of_files.cluster.spec = cluster.spec;
  std::vector<ChangedFigure> changed;
  try {
    Places in_cluster, places;
    read_files(of_files, {}, places, false, in_cluster);
    if (of_files.cluster.stack != cluster.stack) {
      changed.push_back({"stack", cluster.stack});
      of_files.cluster = {};
      of_files.cluster.spec = cluster.spec;
      of_files.cluster.stack = cluster.stack;
      places.set[a_stack.key] = "";
      in_cluster = {};
      read_files(of_files, {}, places, false, in_cluster);
    }
  } catch (const ScenarioError&) {
    return {};
  }
  if (of_files.cluster.spec.empty()) return {};
  for (const Key& key : scenario_keys()) {
    if (!key.is_of_cluster() || key.name == "measured" || key.name == "stack") continue;
    const std::string value = written(key.field(asked));
    if (value != written(key.field(of_files))) changed.push_back({key.name, value});
  }
  return changed;
}

}  // namespace rankscope
