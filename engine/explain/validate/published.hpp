// Published measurements as rows that can be predicted: scenarios/published/*.toml.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// The quantity of a table's figures.
enum class Quantity {
  step_seconds,
  span_seconds,            ///< the same if steps overlap (FoldedStep::longest_span)
  program_seconds,         ///< of a step of all ranks' programs, laid out op by op: compared with our own runs
  block_forward_seconds,   ///< of one transformer block and micro-batch, its tensor exchanges included
  block_backward_seconds,  ///< recomputation included
  all_reduce_seconds,      ///< of `bytes` over plan.data ranks
  peak_bytes,              ///< tensors of the rank that needs most, with cluster.context_bytes and allocator_slack
  reserved_bytes,          ///< the same for an allocator that keeps freed blocks: what nvidia-smi shows
  block_kept_bytes,        ///< of one transformer block from forward to backward, without statistics (KeptBytes)
  hardware_share,          ///< of the peak FLOP/s, with recomputation (HFU)
  model_share,             ///< the same without it (MFU)
  hardware_flops_rate,     ///< FLOP/s of one device, with recomputation
  model_flops_rate,        ///< the same without it
  samples_per_second,      ///< of all devices together
  samples_per_device_second,
  bubble_of_times,       ///< of a schedule whose stages have plan.pass_times, within the longest stage's own span
  training_seconds,      ///< of `tokens` of training without a stop
  device_hours,          ///< of all devices together, for the same training
  device_joules,         ///< the same
  fastest_micro_batch,   ///< samples of the choice with the most samples per second
  largest_parameters,    ///< of the complete model with as many layers as fit device and host (memory_bytes)
  parameters_by_states,  ///< of the complete model, if only parameters, their gradients and states need memory
  checkpoint_bytes,      ///< of the whole model: its parameters, and the optimizer's states
  state_bytes,           ///< of one rank for a model of `parameters`: these, their gradients, the optimizer's states
};

struct PublishedRow {
  std::string name;
  double published = 0;   ///< in the table's unit
  double bytes = 0;       ///< of Quantity::all_reduce_seconds
  double tokens = 0;      ///< of Quantity::training_seconds, device_hours and device_joules
  double parameters = 0;  ///< of Quantity::state_bytes
  bool fitted = false;    ///< a constant of its cluster was fitted to it
  /// One scenario, or one for each choice that the source does not state; for Quantity::fastest_micro_batch the
  /// candidates.
  std::vector<Scenario> choices;
  /// If the figure is a ratio: the denominator's scenarios, one for each choice.
  std::vector<Scenario> against;
};

/// What a table states of itself, with its predictions or without.
struct TableDescription {
  std::string file;  ///< name without ".toml"
  std::string title, source;
  std::string constants;  ///< the source of its clusters' constants
  std::string unit;       ///< as printed: one of unit_of's
  bool judged = true;  ///< false if the source does not state exactly what was measured; `source` then states this
  /// Added after constants had been fitted: none was fitted to its rows. Its errors may have led to a constant from
  /// another source; `constants` then states this. leave_one_out does not use it.
  bool held_out = false;
};

struct PublishedTable : TableDescription {
  Quantity quantity = Quantity::step_seconds;
  std::vector<PublishedRow> rows;
};

/// SI units (bytes, shares) in one of a table's: 1e-3 for "ms". "B" are billions of parameters, "x" and "samples" ones.
/// 0 for an unknown unit.
double unit_of(const std::string& unit);

/// Number of steps for a row's tokens.
double steps_of(const PublishedRow& row, const Scenario& scenario);

/// Throws ScenarioError "file:line:column: …" for an invalid table.
PublishedTable read_published(const std::filesystem::path& file);
/// All files published/*.toml of the best resource folder that has any, by name. Throws ScenarioError.
std::vector<PublishedTable> read_all_published();

}  // namespace rankscope
