// The memory of a plan's ranks without their programs: the data kept by each stage, followed through its order.
//
// Ranks of a stage are identical. What a rank holds at a time depends only on the order of chunks and micro-batches,
// so work is proportional to these, as in folded.hpp. If the cluster runs other software (attention, fused,
// reduced_bytes), the memory of that software is counted, not that of this engine.
#pragma once
#include <array>
#include <vector>

#include "engine/plan/model/model.hpp"
#include "engine/plan/program/program.hpp"
#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

/// Bytes kept from a forward to its backward for one micro-batch, on one rank.
struct KeptBytes {
  double tensors = 0;
  double statistics = 0;  ///< of norms and of attention's rows: some bytes per row, omitted in published formulas
  double sum() const { return tensors + statistics; }
};

/// One block's, all of it, or what selective recomputation (`selective`) keeps: everything but attention's scores.
///
/// With 2-byte elements, dropout, software.attention = "stored" and fused = false this is sbh(34 + 5as/h) without
/// tensor ranks, sbh(10 + 24/t + 5as/(ht)) with them and sbh/t·(34 + 5as/h) with sequence parallelism, less the terms
/// in a if selective (Korthikanti et al. 2022, arXiv 2205.05198, equations 1 to 6): masks are a byte an element, and
/// scores are stored after softmax and after dropout. This engine draws masks again and keeps no scores.
KeptBytes kept_by_block(const Model& model, const ClusterSpec& cluster, bool selective);

/// Bytes of one rank of a stage.
struct StageMemory {
  ClassBytes peak_by_class{};  ///< each class's own maximum
  ClassBytes at_peak{};        ///< when the device's sum is at its maximum
  std::int64_t peak() const { return device_sum(at_peak); }
  /// What an allocator that keeps freed blocks has reserved in total: a block of one class's sizes can rarely serve
  /// another's, so every class has its own maximum (PyTorch's caching allocator: what `nvidia-smi` shows).
  std::int64_t reserved() const { return device_sum(peak_by_class); }
};

/// [stage]. Parameters, gradients and states according to the optimizer and ZeRO, with stages 2 and 3 whole ones of two
/// parts at a time; fp32 copies of reduced
/// gradients, where updates are not fused, while they are made; activations by the schedule; as buffers, messages in
/// transfer and the gradients of the segment that needs most. For plans that fold (why_not_folded).
std::vector<StageMemory> fold_memory(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                     const std::vector<int>& first_segment);

/// The most that a rank holds while an op of its stage's order runs, and what it holds afterwards.
struct MemoryLevel {
  OpId op;
  ClassBytes during{}, after{};
};

/// Bytes per parameter: of the computing type, of its gradient, and of the optimizer's states with the fp32 master.
/// AdamW in 16 bits: 2 + 4 + 12 with fp32 gradients, 2 + 2 + 12 with 16-bit ones, and 4 more as gradients where these
/// are copied to fp32 (Megatron-LM's documentation has 18 and 20, Rajbhandari et al. 2020 16); in fp32 4 + 4 + 8.
struct BytesPerParameter {
  double parameter = 0, gradient = 0, states = 0;
};
/// Bytes of one of `data` ranks: ZeRO's stage 1 divides the states, 2 gradients too, 3 parameters too
/// (Rajbhandari et al. 2020, arXiv 1910.02054, table 1).
struct ModelStates {
  double parameters = 0, gradients = 0, optimizer = 0;
  double sum() const { return parameters + gradients + optimizer; }
};
ModelStates model_states(double elements, const BytesPerParameter& each, int zero, int data);

/// Bytes of the optimizer's states for all parameters of a stage, on a rank that has all of them, and the
/// parameters' elements, of all and of the largest one.
struct StageParameters {
  double elements = 0, state_bytes = 0, largest = 0;
};
/// [stage].
std::vector<StageParameters> parameters_of_stages(const Scenario& scenario, const Model& model,
                                                  const std::vector<int>& stage_of_chunk,
                                                  const std::vector<int>& first_segment);

/// Of segments [begin, end): the number before their blocks, the blocks, and the number after them. Chunks of
/// equal parts differ only in their blocks' numbers.
std::array<int, 3> parts_of(const Model& model, int begin, int end);

/// Elements of the parameters of segments [begin, end) by the units that ZeRO-3 gathers: each block's, the embedding's,
/// the head's; a tied matrix counts where it is first. In the order of the model.
std::vector<double> elements_of_parts(const Model& model, int begin, int end);

/// Bytes of a gradient's element when it is reduced: software.reduced_bytes for parameters of 16 bits, or its type's.
double gradient_bytes(const ClusterSpec& cluster, DType type);

/// The same of its message (software.sent_bytes).
double sent_gradient_bytes(const ClusterSpec& cluster, DType type);

/// How many blocks of a chunk of `blocks` are recomputed together; 0 if none are ("none", "selective").
int blocks_repeated_together(const PlanSpec& plan, int blocks);

}  // namespace rankscope
