// The sections of a script, in order. Each is text that uses names of earlier ones; only what a plan needs is included,
// so that a simple plan has a simple script.
#pragma once
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope::python {

/// The facts of a scenario that sections use.
struct Subject {
  const Scenario& scenario;
  std::vector<int> layers;  ///< of each chunk

  const ModelSpec& model() const { return scenario.model; }
  const PlanSpec& plan() const { return scenario.plan; }
  const TrainSpec& train() const { return scenario.train; }
  int ranks() const { return plan().ranks(); }
  bool replicas() const { return plan().data > 1; }
  bool tensor_ranks() const { return plan().tensor > 1; }
  bool stages() const { return plan().pipeline > 1; }
  /// ZeRO's stage; 0 for one rank, which has no shards.
  int zero() const { return replicas() ? plan().zero : 0; }
  bool fully_sharded() const { return zero() >= 2; }
  bool accumulates() const { return plan().micro_batches > 1 && !stages(); }
  bool recomputes() const { return plan().recompute == Recompute::blocks; }
  bool clips() const { return train().clip > 0; }
  /// torch.nn.utils.clip_grad_norm_ does not support tensor ranks or stages.
  bool clips_by_hand() const { return clips() && (tensor_ranks() || stages()); }
  bool rate_changes() const { return train().warmup_steps > 0 || train().decay != Decay::none; }
};

std::string head(const Subject& subject);         ///< what it is, imports and the scenario's numbers
std::string ranks(const Subject& subject);        ///< the process group and the grid; nothing for one rank
std::string random_numbers();                     ///< the engine's generator
std::string language();                           ///< the synthetic data
std::string tensor_layers(const Subject&);        ///< layers of which each rank has a share; empty without tensor ranks
std::string model(const Subject& subject);        ///< the GPT or Llama
std::string weights(const Subject& subject);      ///< the initial values
std::string plan(const Subject& subject);         ///< the part of each rank
std::string optimizer(const Subject& subject);    ///< with its rate and the gradients' norm
std::string train_steps(const Subject& subject);  ///< the loop

/// "# ---- title ----…", as wide as the script may be, with two empty lines before and one after.
std::string section(const std::string& title);

}  // namespace rankscope::python
