// `rankscope-engine export-torch`: the scenario's training as a script for PyTorch.
#include <fmt/format.h>
#include <fstream>
#include <iostream>

#include "engine/lesson/torch/torch_script.hpp"
#include "engine/worker/commands/command.hpp"

namespace rankscope::command {
namespace {

/// What the command is given.
struct ExportTorchLine {
  Input input;
  std::string file;
};

int export_script(const ExportTorchLine& given) {
  const Scenario scenario = read(given.input);
  refuse_lost_node(scenario);
  const std::string script = torch_script(scenario);
  if (given.file.empty()) {
    std::cout << script;
    return 0;
  }
  std::ofstream file(given.file);
  file << script;
  file.close();
  if (!file) {
    std::cerr << "rankscope-engine: -o " << given.file
              << ": it cannot be written; give a file in a folder that there is" << std::endl;
    return bad_input;
  }
  const int ranks = scenario.plan.ranks();
  std::cout << given.file << ": run it by "
            << (ranks > 1 ? fmt::format("torchrun --nproc-per-node {}", ranks) : std::string("python3")) << " "
            << given.file << "\n";
  return 0;
}

}  // namespace

Command export_torch(CLI::App& app) {
  const auto given = std::make_shared<ExportTorchLine>();
  auto* line = app.add_subcommand(
      "export-torch", "write a script that trains the same in PyTorch: same weights, samples and steps, over gloo");
  line->add_option("SCENARIO", given->input.scenario, "a scenario file (TOML), or the name of a lab or a model")
      ->required();
  line->add_option("--set", given->input.set, "override a key of the file, as in --set train.steps=10")->take_all();
  line->add_option("-o,--output", given->file, "the file to write; without it the script is printed");
  line->footer(
      "The script draws the engine's initial weights and samples itself and prints each step's loss. It needs PyTorch\n"
      "and numpy, no GPU. There are scripts of gpt models in fp32 or fp64 on synthetic data, with data-parallel ranks\n"
      "(DistributedDataParallel; ZeRO 1 by ZeroRedundancyOptimizer, 2 and 3 by fully_shard), tensor-parallel ranks, "
      "and\n"
      "pipelines (naive, gpipe, 1f1b, interleaved; torch.distributed.pipelining), and of these together but ZeRO 2 "
      "and\n"
      "3 with a pipeline. Anything else is refused by the name of its key.");
  return {line, [given] { return export_script(*given); }};
}

}  // namespace rankscope::command
