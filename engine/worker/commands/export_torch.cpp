// `rankscope-engine export-torch`: the scenario's training as a script for PyTorch.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/write_watch.hpp"
#include "engine/lesson/torch/torch_script.hpp"
#include "engine/worker/commands/command.hpp"

namespace rankscope::command {
namespace {

/// The command's options.
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
  std::string why = file ? "" : std::strerror(errno);
  if (file) {
    WriteWatch watch(file);
    file << script;
    why = watch.failure();
  }
  if (!why.empty()) {
    std::cerr << "rankscope-engine: -o " << message_line(given.file) << ": cannot be written: " << why
              << "; give a file in a folder that exists and may be written" << std::endl;
    return status::bad_input;
  }
  const int ranks = scenario.plan.ranks();
  std::cout << given.file << ": run it with "
            << (ranks > 1 ? fmt::format("torchrun --nproc-per-node {}", ranks) : std::string("python3")) << " "
            << given.file << "\n";
  return 0;
}

}  // namespace

Command export_torch(CLI::App& app) {
  const auto given = std::make_shared<ExportTorchLine>();
  auto* line = app.add_subcommand(
      "export-torch", "write a PyTorch script for the same training: same weights, samples and steps, over gloo");
  line->add_option("SCENARIO", given->input.scenario, "scenario file (TOML), or the name of a lab or a model")
      ->required();
  line->add_option("--set", given->input.set, "override a key of the file, as in --set train.steps=10")->take_all();
  line->add_option("-o,--output", given->file, "file to write (default: print the script)");
  line->footer(
      "The script generates the engine's initial weights and samples and prints the loss of each step. It needs "
      "PyTorch\n"
      "and numpy, but no GPU. Supported are gpt models in fp32 or fp64 on synthetic data, with data-parallel ranks\n"
      "(DistributedDataParallel; ZeRO 1 by ZeroRedundancyOptimizer, 2 and 3 by fully_shard), tensor-parallel ranks, "
      "and\n"
      "pipelines (naive, gpipe, 1f1b, interleaved; torch.distributed.pipelining), and combinations except ZeRO 2 "
      "and\n"
      "3 with a pipeline. Anything else is refused, with the name of its key.");
  return {line, [given] { return export_script(*given); }};
}

}  // namespace rankscope::command
