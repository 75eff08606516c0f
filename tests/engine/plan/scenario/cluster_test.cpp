// A cluster by name, by path, and described in the scenario: what is inherited, what is missing, what has no effect.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/plan/scenario/keys.hpp"
#include "tests/engine/plan/scenario/refusal.hpp"

using namespace rankscope;
using namespace rankscope::test;
namespace fs = std::filesystem;

namespace {

const std::string machine =
    "[cluster]\npeak_flops_fp32 = 1e12\nmemory_bytes = 1e9\nmemory_bandwidth = 1e11\nop_overhead_s = 1e-6\n"
    "multiprocessors = 0\nproduct_efficiency = 0.5\nmemory_efficiency = 0.5\n";
const std::string network =
    "devices_per_node = 4\nintra_latency_s = 1e-6\nintra_bandwidth = 1e10\nintra_efficiency = 0.5\n"
    "inter_latency_s = 1e-5\ninter_bandwidth = 1e9\ninter_efficiency = 0.5\n";
const std::string two_nodes = "[plan]\ndata = 8\n[train]\nglobal_batch = 8\n";

class Folder {
 public:
  Folder() { fs::create_directories(path / "clusters"); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  const fs::path path = fs::temp_directory_path() / ("rankscope-cluster-" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("a cluster without spec inherits nothing: what a prediction of that plan needs is named") {
  const auto lacking = [&](const std::string& at, const std::string& figures) {
    return at + ": [cluster] lacks " + figures + "; add them (values: a DGX A100), or use spec = \"laptop\"";
  };
  const auto message = [](const std::string& text, const std::vector<Override>& set = {}) {
    return error_of([&] { parse_scenario(text, "s.toml", set); });
  };
  CHECK(message("[cluster]\npeak_flops_bf16 = 312e12\n[plan]\nprecision = \"bf16\"\n") ==
        lacking("s.toml:2:1",
                "memory_bytes 80e9, memory_bandwidth 2e12, op_overhead_s 3e-6, multiprocessors 108, "
                "product_efficiency "
                "0.87 and memory_efficiency 0.6"));
  CHECK(message(machine) == "no error");  // one rank has no network
  CHECK(message(machine + two_nodes) == lacking("s.toml:2:1",
                                                "devices_per_node 8, intra_latency_s 3e-6, intra_bandwidth 300e9 and "
                                                "intra_efficiency 0.78"));
  CHECK(message(machine + "devices_per_node = 1\n" + two_nodes) ==
        lacking("s.toml:2:1", "inter_latency_s 1e-5, inter_bandwidth 25e9 and inter_efficiency 0.94"));
  CHECK(message(machine + network + two_nodes) == "no error");
  // Every figure but the shares that long kernels and collectives reach: they are not 1 without a word.
  const std::string sheet =
      "[cluster]\npeak_flops_fp64 = 1e12\npeak_flops_fp32 = 1e12\npeak_flops_bf16 = 1e12\npeak_flops_fp16 = 1e12\n"
      "memory_bytes = 1e9\nmemory_bandwidth = 1e11\nop_overhead_s = 1e-6\ndevices_per_node = 4\n"
      "intra_latency_s = 1e-6\nintra_bandwidth = 1e10\ninter_latency_s = 1e-5\ninter_bandwidth = 1e9\n";
  CHECK(message(sheet + two_nodes) == lacking("s.toml:2:1",
                                              "multiprocessors 108, product_efficiency 0.87, memory_efficiency 0.6, "
                                              "intra_efficiency 0.78 and inter_efficiency 0.94"));
  CHECK(message(machine + network + two_nodes, {{"precision", "bf16"}}) ==
        lacking("s.toml:2:1", "peak_flops_bf16 312e12"));
  // Collectives alone compute nothing.
  CHECK(message("[model]\nkind = \"collective\"\n[plan]\ndata = 8\n[cluster]\n" + network) == "no error");
  // After --set, too.
  CHECK(message(two_nodes, {{"cluster.memory_bytes", "1e9"}})
            .starts_with("--set cluster.memory_bytes=1e9: [cluster] lacks"));
}

TEST_CASE("a described cluster has exactly what was described") {
  const ClusterSpec own = parse_scenario(machine + network + two_nodes, "s.toml").cluster;
  CHECK(own.spec.empty());
  CHECK(own.label() == "own");
  CHECK(own.peak_flops_fp64 == 0);
  CHECK(own.host_bandwidth == 0);
  CHECK(own.software == SoftwareSpec());
  CHECK(changed_figures(own).empty());
  // Without any figure it is the default one, also with another software.
  CHECK(parse_scenario("[software]\noverlap = false\n", "s.toml").cluster.spec == "laptop");
}

TEST_CASE("a cluster's file may be given by its path, from the scenario's folder or after --set from the working one") {
  const Folder folder;
  folder.file("mine.toml", machine + network);
  const std::string scenario =
      folder.file("s.toml", two_nodes + "[cluster]\nspec = \"./mine.toml\"\nintra_efficiency = 0.9\n");
  const ClusterSpec found = read_scenario(scenario).cluster;
  CHECK(found.spec == (folder.path / "mine.toml").string());
  CHECK(found.label() == "mine");
  CHECK(found.inter_bandwidth == 1e9);
  REQUIRE(changed_figures(found).size() == 1);
  CHECK(changed_figures(found)[0].name == "intra_efficiency");

  const std::string plain = folder.file("plain.toml", two_nodes);
  const fs::path before = fs::current_path();
  fs::current_path(folder.path / "clusters");
  CHECK(read_scenario(plain, {{"cluster.spec", "../mine.toml"}}).cluster.spec == found.spec);
  CHECK(error_of([&] {
          read_scenario(plain, {{"cluster.spec", "mine.toml"}});
        }) == "--set cluster.spec=mine.toml: there is no cluster file '" +
                  (folder.path / "clusters" / "mine.toml").string() +
                  "'; a path in a scenario begins at the scenario's folder, one after --set at the working directory");
  fs::current_path(before);
  // A stored scenario names the same file, wherever it is read.
  CHECK(parse_recorded_scenario(to_toml(read_scenario(scenario))).cluster == found);
}

TEST_CASE("a figure without an effect is refused with the reason") {
  const auto message = [](const std::string& set_key, const std::string& value, const std::string& spec = "selene") {
    return error_of([&] { parse_scenario("", "s.toml", {{"cluster.spec", spec}, {set_key, value}}); });
  };
  CHECK(message("oversubscription", "4") ==
        "--set oversubscription=4: oversubscription has no effect: all nodes are "
        "below one switch; give nodes_per_switch, or remove oversubscription");
  CHECK(message("slow_node_factor", "4") ==
        "--set slow_node_factor=4: slow_node_factor has no effect: no node is slow; give slow_node, or remove "
        "slow_node_factor");
  CHECK(message("card_bandwidth", "1e9") ==
        "--set card_bandwidth=1e9: card_bandwidth has no effect: there are no cards "
        "of several devices; give devices_per_card, or remove card_bandwidth");
  CHECK(message("ring_ports", "2") == "no error");
  CHECK(message("ring_ports", "2", "laptop") ==
        "--set ring_ports=2: ring_ports has no effect: collectives are the engine's own lists; give collectives = "
        "\"library\" in [software], or remove ring_ports");
  CHECK(message("tile_rows", "64", "laptop").ends_with("give their number, or remove tile_rows"));
  CHECK(message("oversubscription", "1") == "no error");  // as without it
  const Folder folder;
  folder.file("clusters/mine.toml", machine + network + "oversubscription = 4\n");
  CHECK(error_of([&] { read_scenario(folder.file("s.toml", "[cluster]\nspec = \"mine\"\n")); }) ==
        (folder.path / "clusters" / "mine.toml").string() +
            ":16:1: oversubscription has no effect: all nodes are below one switch; give nodes_per_switch, or remove "
            "oversubscription");
}

TEST_CASE("the size of a micro-batch may be given instead of the number") {
  const auto made = [](const std::string& text, const std::vector<Override>& set = {}) {
    return parse_scenario("[train]\nglobal_batch = 48\n" + text, "s.toml", set).plan.micro_batches;
  };
  CHECK(made("[plan]\nmicro_batch_size = 4\n") == 12);
  CHECK(made("[plan]\nmicro_batch_size = 4\ndata = 2\n") == 6);
  CHECK(made("[plan]\nmicro_batch_size = 4\n", {{"data", "3"}}) == 4);
  CHECK(made("[plan]\nmicro_batches = 2\n", {{"micro_batch_size", "8"}}) == 6);
  CHECK(made("[plan]\nmicro_batch_size = 8\n", {{"micro_batches", "2"}}) == 2);
  CHECK(made("[plan]\nmicro_batch_size = 4\nmicro_batches = 12\n") == 12);
  CHECK(error_of([&] { made("[plan]\nmicro_batch_size = 4\nmicro_batches = 3\n"); }) ==
        "s.toml:5:1: micro_batches = 3 and micro_batch_size = 4 cannot both be true of 48 samples on 1 data-parallel "
        "rank; remove one of them");
  CHECK(error_of([&] { made("[plan]\nmicro_batch_size = 5\ndata = 2\n"); }) ==
        "s.toml:4:1: a batch of 48 samples cannot be cut into micro-batches of 5 on 2 data-parallel ranks; "
        "micro_batch_size = 4 or 6 would do, or global_batch = 40 or 50");
  Scenario changed = parse_scenario("[train]\nglobal_batch = 48\n", "s.toml");
  set_value(changed, {"micro_batch_size", "6"}, "--vary");
  CHECK(changed.plan.micro_batches == 8);
  CHECK(to_toml(changed).find("micro_batch_size") == std::string::npos);
}

TEST_CASE("the case of names does not matter, and names of other programs lead to this one's") {
  const Scenario read = parse_scenario(
      "[model]\nkind = \"GPT\"\n[plan]\nschedule = \"1F1B\"\nprecision = \"BF16\"\n[train]\noptimizer = \"AdamW\"\n"
      "[cluster]\nspec = \"H100\"\n",
      "s.toml");
  CHECK(read.plan.schedule == ScheduleKind::one_f_one_b);
  CHECK(read.plan.precision == Precision::bf16);
  CHECK(read.train.optimizer == "adamw");
  CHECK(read.cluster.spec == "h100");
  const Row rows[] = {
      {"[plan]\nuse_distributed_optimizer = true\n",
       {},
       "s.toml:2:1: unknown key 'use_distributed_optimizer' in [plan]; did you mean 'zero'? zero = 1 is a distributed "
       "optimizer"},
      {"[plan]\nmax_grad_norm = 1\n",
       {},
       "s.toml:2:1: unknown key 'max_grad_norm' in [plan]; did you mean 'clip' of [train]?"},
      {"[model]\nnum_experts = 8\n",
       {},
       "s.toml:2:1: unknown key 'num_experts' in [model]; there are no mixtures of experts yet"},
      {"",
       {"precision=fp8"},
       "--set precision=fp8: unknown precision 'fp8'; there are no 8-bit or 4-bit floating-point types yet; bf16 is "
       "the "
       "nearest"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("another kind of recomputation drops the file's number of blocks") {
  const std::string text = "[plan]\nrecompute = \"blocks\"\nrecompute_blocks = 2\n";
  CHECK(parse_scenario(text, "s.toml", {{"recompute", "none"}}).plan.recompute_blocks == 1);
  CHECK(error_of([&] {
          parse_scenario(text, "s.toml", {{"recompute", "none"}, {"recompute_blocks", "2"}});
        }).starts_with("--set recompute_blocks=2: recompute_blocks = 2 says"));
}

TEST_CASE("a stack is the software of any machine: below the scenario's own keys, in place of the cluster's") {
  const Folder folder;
  fs::create_directories(folder.path / "software");
  folder.file("software/slow.toml", "[software]\nfused = false\noverlap = false\nreduced_bytes = 4\n");
  folder.file("clusters/big.toml", machine + network + "[software]\nstack = \"slow\"\noverlap = true\n");
  const auto software = [&](const std::string& text) {
    return read_scenario(folder.file("s.toml", text)).cluster.software;
  };
  const SoftwareSpec of_machine = software("[cluster]\nspec = \"big\"\n");
  CHECK_FALSE(of_machine.fused);
  CHECK(of_machine.overlap);  // the cluster's file says so itself
  CHECK(of_machine.reduced_bytes == 4);
  const SoftwareSpec of_scenario =
      software("[cluster]\nspec = \"big\"\n[software]\nstack = \"SLOW\"\nreduced_bytes = 2\n");
  CHECK_FALSE(of_scenario.fused);
  CHECK_FALSE(of_scenario.overlap);
  CHECK(of_scenario.reduced_bytes == 2);
  CHECK(software("[cluster]\nspec = \"big\"\n[software]\nstack = \"\"\n") == SoftwareSpec());  // this engine's
  // Also on a described machine; and the figures that a scenario changed do not include its stack's.
  CHECK_FALSE(software(machine + "[software]\nstack = \"slow\"\n").fused);
  const Scenario named = read_scenario(folder.file("n.toml", "[cluster]\nspec = \"./clusters/big.toml\"\n"));
  CHECK(named.cluster.stack == "slow");
  CHECK(error_of([&] { software("[software]\nstack = \"slov\"\n"); })
            .starts_with((folder.path / "s.toml").string() +
                         ":2:1: unknown software 'slov'; did you mean 'slow'? known: "));
}
