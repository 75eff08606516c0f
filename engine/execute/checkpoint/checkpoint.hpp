// Checkpoints: everything that a run needs to resume, as a directory that is either complete or missing.
//
//   FOLDER/step-00000020/            after 20 steps
//     manifest.json                  version, steps done, ranks, the scenario, size and CRC-32 of each file's header
//     rank-0.safetensors             tensors that only rank 0 has, or that it writes for its replicas
//     …
//
// Each tensor is written by one rank, the first of its replicas. Weights are written as the optimizer stores them
// (masters if there are any). Data order, dropout and learning rate are functions of the step, so the checkpoint needs
// only the step. A complete tensor has the name of its parameter ("wte.weight"), an optimizer's state has its own name
// as a prefix ("m:wte.weight"), and a piece has the rank's coordinates as a suffix ("m:wte.weight@0+4096": tensor
// coordinate 0, from element 4096 of that rank's share).
//
// Ranks write into FOLDER/step-00000020.partial; one rank that finds all files complete checks headers and sizes and
// renames the directory. All data are checked when read: the manifest has a CRC-32 of itself and of each header, and
// each header one of its tensors' bytes (1 to 3 GB/s, from the disk as fast as it can).
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/execute/checkpoint/safetensors.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// The role of fp16's state, which is not a state of a parameter.
inline constexpr const char* loss_scale_role = "loss_scale";

/// A tensor of a checkpoint, or one to be filled from it.
struct CheckpointTensor {
  std::string role;    ///< empty for weights, else the state's name; loss_scale_role
  int parameter = -1;  ///< index into Model::parameters; -1: none
  int tensor = 0;      ///< the rank's coordinate in its tensor group
  /// The first entry of the view, as an index into the rank's share of the parameter.
  std::int64_t first = 0;
  bool is_whole = true;     ///< the view has all entries of the rank's share
  bool elementwise = true;  ///< an entry is an element of the parameter; otherwise entries have only an index
  View view;
};

/// Writes one rank's file of the checkpoint after `steps_done` steps, and renames the directory if it is the last; an
/// older one of that name is replaced. Keeps the newest `kept` checkpoints of the folder. Throws CheckpointError.
void write_checkpoint(const std::string& folder, const Scenario& scenario, const Model& model, int rank,
                      std::int64_t steps_done, const std::vector<CheckpointTensor>& tensors, int kept = 3);

/// The name of that checkpoint's directory.
std::string checkpoint_name(std::int64_t steps_done);
/// The complete checkpoints of a folder, oldest first; for a checkpoint's own directory, the directory itself.
std::vector<std::string> checkpoints_in(const std::string& folder);
/// Removes partial checkpoints of runs that ended while writing.
void remove_partial_checkpoints(const std::string& folder);

/// A complete checkpoint, read under any plan of the same model.
class Checkpoint {
 public:
  /// Opens the directory and checks every file. Throws CheckpointError.
  explicit Checkpoint(const std::string& directory);
  const std::string& directory() const { return directory_; }
  /// False if it was written before manifests had the headers' CRC-32: its tensors' bytes are verified; their names,
  /// shapes and positions are only checked for plausibility.
  bool has_checked_headers() const { return has_checked_headers_; }
  std::int64_t steps_done() const { return steps_done_; }
  const Scenario& scenario() const { return scenario_; }

  /// fp16's state (engine/execute/optimizer/loss_scale.hpp): scale, steps since its last change, number of updates.
  /// nullopt if neither the run nor those that it resumed from had one.
  std::optional<std::array<double, 3>> loss_scale() const;
  /// Steps skipped because of an overflow: an optimizer has counted this many updates fewer than steps.
  std::int64_t skipped_updates() const;

  /// Why training `wanted` cannot continue from here: another model, or an optimizer with other states. One line.
  std::optional<std::string> find_mismatch(const Scenario& wanted) const;
  /// Fills target.view; `model` is that of the target's plan. False if this state is not stored (if a run has no
  /// master, it is created from the weights). Throws CheckpointError.
  bool read(const CheckpointTensor& target, const Model& model) const;

 private:
  /// A tensor in one of the files.
  struct Stored {
    const SafetensorsFile* file = nullptr;
    SafetensorsFile::Tensor tensor;
    int coordinate = 0;
    std::int64_t first = 0;
  };
  const std::vector<Stored>* find(const std::string& role, int parameter) const;

  std::string directory_;
  bool has_checked_headers_ = false;
  std::int64_t steps_done_ = 0;
  Scenario scenario_;
  Model model_;
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::pair<std::string, int>, std::vector<Stored>> stored_;  ///< by role and parameter
};

/// The newest complete checkpoint of a folder (or the folder itself if it is one).
struct WholeCheckpoint {
  std::optional<Checkpoint> checkpoint;
  std::vector<std::string> passed_over;  ///< newer damaged ones: one line each with the error, newest first
};
/// Reads the complete checkpoint, and newer ones until the damage is found.
WholeCheckpoint newest_whole_checkpoint(const std::string& folder);
/// Why there is none, in one line: the folder has none, or the error of each.
std::string no_whole_checkpoint(const std::string& folder, const WholeCheckpoint& looked_for);

}  // namespace rankscope
