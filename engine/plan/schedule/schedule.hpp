// Pipeline schedules as data: for each stage the order of its compute ops, folded to chunks. Communication is added by
// passes, never here. One schedule per file; schedule.cpp has the table of their builders.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/op_id.hpp"
#include "engine/plan/scenario/choices.hpp"

namespace rankscope {

/// Relative times of a stage's passes, the input of ZB-2p; all positive except the message.
struct PassTimes {
  double forward = 1, input_gradient = 1, weight_gradient = 1, message = 0;
  double kept = 1;  ///< share of a micro-batch's activations that its weight gradient still needs, up to 1
};

/// The input of a schedule.
struct PipelineShape {
  int stages = 1;
  int virtual_stages = 1;  ///< chunks per stage
  int micro_batches = 1;
  PassTimes times = {};
  int chunks() const { return stages * virtual_stages; }
};

/// Compute order of every stage: ids with chunk and micro-batch, segment whole. The stage of each chunk is
/// data.
struct ChunkSchedule {
  ScheduleKind kind = ScheduleKind::naive;
  PipelineShape shape;
  std::vector<int> stage_of_chunk;
  std::vector<std::vector<OpId>> order;  ///< [stage]
};

/// naive: one micro-batch after the other through the whole pipeline; one stage is busy at a time.
ChunkSchedule naive_schedule(PipelineShape shape);
/// GPipe (Huang et al. 2019, arXiv 1811.06965): all forwards, then all backwards, in micro-batch order.
ChunkSchedule gpipe_schedule(PipelineShape shape);
/// 1F1B, or PipeDream-Flush (Narayanan et al. 2021, arXiv 2104.04473): min(p-r-1, m) warm-up forwards, then one
/// forward and one backward in turn.
ChunkSchedule one_f_one_b_schedule(PipelineShape shape);

/// PipeDream's 1F1B (Narayanan et al. 2019, arXiv 1806.03377): the order of 1F1B, in which every micro-batch is a
/// separate mini-batch: a stage updates its weights after each backward (PlanSpec::updates_each_micro_batch).
/// The pipeline drains at the end of a step, as it does under 1F1B: once for as many updates as there are
/// micro-batches.
ChunkSchedule one_f_one_b_async_schedule(PipelineShape shape);

/// Interleaved 1F1B (Narayanan et al. 2021, section 2.2): v chunks a stage, chunk c on stage c mod p. Micro-batches go
/// in groups of p through a stage's chunks; 2(p-r-1) + (v-1)p warm-up forwards, and 1F1B itself with one chunk. Throws
/// std::invalid_argument unless p divides the micro-batches.
ChunkSchedule interleaved_schedule(PipelineShape shape);

// Zero-bubble schedules (Qi et al. 2024, arXiv 2401.10241): the backward is split into the input gradient, which the
// stage before waits for, and the weight gradient, which fills gaps.

/// ZB-H1: 1F1B's warm-up and its greatest activation memory, a third of its bubble.
ChunkSchedule zb_h1_schedule(PipelineShape shape);
/// ZB-H2: 2(p-r-1) warm-up forwards, activations of 2p-1 micro-batches instead of p, no bubble between a stage's first
/// and last op if forward, input gradient and weight gradient have the same duration.
ChunkSchedule zb_h2_schedule(PipelineShape shape);
/// ZB-2p, the paper's own heuristic (section 3.1): activations of at most 2p micro-batches, which stages with few in
/// flight use for delayed weight gradients. Warm-up forwards until the first gradient can arrive; then a
/// forward and an input gradient in turn, and weight gradients if memory is exhausted, if nothing else can run
/// for the duration of one, or if the stage would otherwise idle more than any other.
ChunkSchedule zb_2p_schedule(PipelineShape shape);
/// ZB-V: two chunks a stage, r and 2p-1-r, so that the first stage also has the last chunk: ZB-H2's bubble in 1F1B's
/// memory, for twice the messages. Throws std::invalid_argument unless virtual_stages is 2.
ChunkSchedule zb_v_schedule(PipelineShape shape);

/// An order written by hand, in the form that to_text prints: for each stage a line "stage 0: F:c0:m0 … B:c0:m0 …" (or
/// ";" between them), with # before comments. A chunk is on the stage that runs it. Throws std::invalid_argument, with
/// the line if any, if an op is unknown, doubled, missing or on two stages, when whole and split
/// backwards are mixed, or if ops wait for each other in a cycle.
ChunkSchedule by_hand_schedule(std::string_view text, PipelineShape shape);
std::string to_text(const ChunkSchedule& schedule);

/// True when the backward runs as input gradient and weight gradient.
bool splits_backward(const ChunkSchedule& schedule);

/// True when chunk c is on stage c mod p.
bool is_cyclic(const std::vector<int>& stage_of_chunk, int stages);

/// Any but by_hand, whose order is not built from a shape. Throws std::invalid_argument with what the shape lacks.
ChunkSchedule make_schedule(Choice<ScheduleKind> kind, PipelineShape shape);

/// A message of a stage: the result of the op at position `op` of its order. In program order it is sent after the op
/// at position `after`, and its data must be kept until then.
struct Sending {
  int op = 0, after = 0;
};
/// The messages that a stage sends, in the order of each direction's lane. A lane sends in order, and each message
/// waits until it is received, as soon as its receive is posted. A stage that is ahead of its neighbour keeps a
/// message until then by the schedule's own time line (PipelineShape::times), so that no reuse of its memory waits for
/// it earlier. Where one lane serves two neighbours (ZB-V, orders by hand) messages leave when that line needs them,
/// an order common to all lanes, and not when computed: otherwise lanes would wait for each other in a cycle.
/// Throws std::invalid_argument if an order waits for itself.
std::vector<Sending> sending_order(const ChunkSchedule& schedule, int stage);

/// Share of the step that stages idle on average, with equal chunks, free communication and a forward, an input
/// gradient and a weight gradient of equal duration: naive 1 - 1/p, gpipe and 1f1b (p-1)/(m+p-1), interleaved
/// (p-1)/(vm+p-1), the zero-bubble schedules (p-1)/(3m+p-1) or less. Computed on a time line, so valid for any order;
/// throws std::invalid_argument if the order waits for itself.
double ideal_bubble(const ChunkSchedule& schedule);

}  // namespace rankscope
