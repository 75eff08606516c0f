// Checkpoints: everything that a run needs to resume, as a directory that is either complete or missing.
//
//   FOLDER/step-00000020/            after 20 steps
//     manifest.json                  version, steps done, ranks, the scenario, size and CRC-32 of each file's header
//     rank-0.safetensors             tensors that only rank 0 has, or that it writes for its replicas
//     …
//
// Each tensor is written by one rank, the first of its replicas. Weights are written as the optimizer
// stores them (masters if there are any). Data order, dropout and learning rate are functions of the step, so the
// checkpoint needs only the step. A tensor has the name of its parameter if it is all of it ("wte.weight"), an
// optimizer's state has its own name before it ("m:wte.weight"), and a piece its rank's place behind it
// ("m:wte.weight@0+4096": tensor coordinate 0, from element 4096 of what that rank holds).
//
// Ranks write into FOLDER/step-00000020.partial; one rank that finds all files complete checks headers and sizes
// and renames the directory. All data are checked when read: the manifest has a CRC-32 of itself and of each
// header, and each header one of its tensors' bytes (1 to 3 GB/s, from the disk as fast as that is).
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

/// The role of fp16's state, which belongs to no parameter.
inline constexpr const char* loss_scale_role = "loss_scale";

/// A tensor of a checkpoint, or one to be filled from it.
struct CheckpointTensor {
  std::string role;    ///< empty for weights, else the state's name; loss_scale_role
  int parameter = -1;  ///< index into Model::parameters; -1: none
  int tensor = 0;      ///< the rank's coordinate in its tensor group
  /// The first entry of the view, among the entries of the rank's share of the parameter.
  std::int64_t first = 0;
  bool is_whole = true;     ///< the view has all entries of the rank's share
  bool elementwise = true;  ///< an entry is an element of the parameter; else entries are only numbered
  View view;
};

/// Writes one rank's file of the checkpoint after `steps_done` steps, and renames the directory if it is the last; an
/// older one of that name is replaced. Keeps the newest `kept` checkpoints of the folder. Throws CheckpointError.
void write_checkpoint(const std::string& folder, const Scenario& scenario, const Model& model, int rank,
                      std::int64_t steps_done, const std::vector<CheckpointTensor>& tensors, int kept = 3);

/// The complete checkpoints of a folder, oldest first; those of a checkpoint's own directory are itself.
std::vector<std::string> checkpoints_in(const std::string& folder);
/// Removes partial checkpoints of runs that ended while writing.
void remove_partial_checkpoints(const std::string& folder);

/// A complete checkpoint, read under any plan of the same model.
class Checkpoint {
 public:
  /// Opens the directory and checks every file. Throws CheckpointError.
  explicit Checkpoint(const std::string& directory);
  const std::string& directory() const { return directory_; }
  /// False if it was written before manifests had the headers' CRC-32: the bytes of its tensors are verified, their
  /// names, shapes and places are only checked for plausibility.
  bool has_checked_headers() const { return has_checked_headers_; }
  std::int64_t steps_done() const { return steps_done_; }
  const Scenario& scenario() const { return scenario_; }

  /// fp16's state (engine/execute/optimizer/loss_scale.hpp): scale, steps since it has changed, updates made. Nullopt
  /// if neither the run nor those that it resumed from had one.
  std::optional<std::array<double, 3>> loss_scale() const;
  /// Steps skipped because of an overflow: an optimizer has counted this many updates fewer than steps.
  std::int64_t skipped_updates() const;

  /// Why training `wanted` cannot continue from here: another model, or an optimizer with other states. One line.
  std::optional<std::string> find_mismatch(const Scenario& wanted) const;
  /// Fills target.view; `model` is the target's plan's. False when there is no such state here (a master of a run
  /// without one is made of its weights). Throws CheckpointError.
  bool read(const CheckpointTensor& target, const Model& model) const;

 private:
  /// A tensor of some file.
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
  std::vector<std::string> passed_over;  ///< newer ones that are not: what is damaged, one line each, newest first
};
/// Reads all of it, and of newer ones as much as needed to find the damage.
WholeCheckpoint newest_whole_checkpoint(const std::string& folder);
/// Why there is none, in one line: the folder has none, or the error of each.
std::string no_whole_checkpoint(const std::string& folder, const WholeCheckpoint& looked_for);

}  // namespace rankscope
