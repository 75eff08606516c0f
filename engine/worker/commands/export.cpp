// `rankscope-engine export`: a checkpoint's model for other tools.
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/execute/checkpoint/hugging_face.hpp"
#include "engine/op/words.hpp"
#include "engine/worker/checkpoint_choice.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/print.hpp"

namespace rankscope::command {
namespace {

/// The command's options.
struct ExportLine {
  std::string checkpoint, folder;
  bool json = false;
};

int export_checkpoint(const ExportLine& given) {
  const WholeCheckpoint found = newest_whole_checkpoint(given.checkpoint);
  if (!found.checkpoint) throw CheckpointError(no_whole_checkpoint(given.checkpoint, found));
  const Checkpoint& checkpoint = *found.checkpoint;
  report_choice(found);
  const SavedModel saved = write_hugging_face(checkpoint, given.folder);
  if (given.json)
    print_json(nlohmann::ordered_json{{"folder", given.folder},
                                      {"checkpoint", checkpoint.directory()},
                                      {"steps_done", checkpoint.steps_done()},
                                      {"parameters", saved.parameters},
                                      {"bytes", saved.bytes}});
  else
    std::cout << given.folder << ": " << saved.parameters << " parameters after " << checkpoint.steps_done()
              << " steps, fp32, " << fmt::format("{:.1f} MiB", static_cast<double>(saved.bytes) / (1 << 20))
              << "; transformers' " << saved.reader << " reads it\n";
  return 0;
}

}  // namespace

Command export_model(CLI::App& app) {
  const auto given = std::make_shared<ExportLine>();
  auto* line = app.add_subcommand("export", "export the model of a checkpoint in Hugging Face's format");
  line->add_option("CHECKPOINT", given->checkpoint, "checkpoint, or folder of checkpoints (the newest complete one)")
      ->required();
  line->add_option("FOLDER", given->folder, "folder to create, with config.json and model.safetensors")->required();
  add_json(line, given->json);
  return {line, [given] { return export_checkpoint(*given); }};
}

}  // namespace rankscope::command
