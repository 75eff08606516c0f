// The passes that make a rank's program, in the order in which StepProgram::program_for applies them. Each gets a value
// and returns one. They insert ops in program order and list the buffers of each; dependencies are never written by
// hand: add_edges derives them from the uses, once, at the end.
#pragma once
#include "engine/plan/collective/definition.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

/// For model.kind "collective", instead of all passes up to add_checkpoint: load, collective, check.
RankProgram collective_alone(const StepProgram& step, int rank);
/// A description of that collective.
CollectiveTask task_of(const StepProgram& step);
/// "one all_to_all a step, ring, of 976.56 KiB in 8 parts of 122.07 KiB".
std::string task_words(const StepProgram& step);

/// The schedule's compute ops of the rank's chunks, opened into segments, with parameters, gradients and activations.
/// Consecutive chunks on one rank share the tensor between them. A gradient that waits for its weight
/// gradient counts as an activation, since it is kept for the same reason.
RankProgram expand(const StepProgram& step, int rank);
/// Exchanges of tensor ranks (Model::exchanges): partial sums and their gradients, or with sequence parallelism rows
/// gathered and sums scattered, and the statistics of the cross-entropy.
RankProgram add_tensor_collectives(RankProgram program, const StepProgram& step);
/// load_batch ops for the input of the first chunk (tokens) and of the last one (targets).
RankProgram add_batches(RankProgram program, const StepProgram& step);
/// With a main device: it loads the samples of all its replicas and scatters them, and gathers their losses.
RankProgram scatter_batches(RankProgram program, const StepProgram& step);
/// Sends and receives between chunks on different ranks, sent in the schedule's sending_order. A receive is posted one
/// action ahead, and a sent buffer lives one action longer than its computation, so that a transfer can overlap with
/// compute.
RankProgram add_pipeline_transfers(RankProgram program, const StepProgram& step);
/// Without ZeRO: gradient buckets (bucket.hpp) all-reduced over the data group as soon as the last micro-batch's
/// backward has completed them (reduced to the main device, if any; not at all with servers), and the tied
/// embedding over the first and last stage where these are not both on one rank.
RankProgram add_gradient_reduction(RankProgram program, const StepProgram& step);
/// With ZeRO: buckets reduce-scattered, once a step in stage 1 and after each micro-batch's backward in stages 2 and 3,
/// the tied embedding's shards summed over first and last stage, and the pieces that this rank updates.
RankProgram shard_gradients(RankProgram program, const StepProgram& step);
/// On ranks that update something (StepProgram::updates): the gradient norm, its all-reduce when clipping needs it, and
/// the parameters' update: of whole tensors in one op, or of ZeRO's pieces bucket by bucket, each followed in stages 1
/// and 2 by the gather of the whole bucket, or of a server's pieces, once a step or for each contribution. If each
/// micro-batch is a separate mini-batch: an update after its backward, and no norm.
RankProgram add_optimizer(RankProgram program, const StepProgram& step);
/// With plan.offload "optimizer" (ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840): optimizer states are in host
/// memory. Bucket by bucket, final gradients are copied there, the host updates its copy of the parameters,
/// and the new values are copied back.
RankProgram offload_optimizer(RankProgram program, const StepProgram& step);
/// A worker of parameter servers: each server's shard of the gradients is sent to it as soon as the backward has
/// completed it, and its shard of the parameters received in return.
RankProgram push_and_pull(RankProgram program, const StepProgram& step);
/// What a parameter server has, and the gradients that it receives: added up, or each for itself on an asynchronous
/// one. Ids of ops between workers and servers: `micro_batch` is the worker, `index` the server.
RankProgram serve(const StepProgram& step, int rank);
/// The server's parameters sent to each worker: after the update, or on an asynchronous one after that worker's own.
RankProgram answer_workers(RankProgram program, const StepProgram& step);
/// With a main device: its parameters broadcast to all replicas, before the step's first forward.
RankProgram replicate_parameters(RankProgram program, const StepProgram& step);
/// Repeated forward ops before the backward that reads their results, so that these are not kept until then
/// (plan.recompute): "blocks" keeps the input of each block, or of every plan.recompute_blocks-th, "sqrt" that of every
/// ⌈√n⌉-th of a chunk's n blocks, "selective" all but what attention's core computes (Korthikanti et al. 2022).
/// Repeated ops draw the same dropout: gradients are the same to the bit.
RankProgram add_recomputation(RankProgram program, const StepProgram& step);
/// ZeRO's stage 3: parameters gathered for consecutive ops that use them, one such row of ops ahead, and freed
/// after it.
RankProgram gather_parameters(RankProgram program, const StepProgram& step);
/// With plan.weight_stashing: backwards read their forwards' weights. It runs after all passes that add forwards or
/// updates.
RankProgram stash_weights(RankProgram program, const StepProgram& step);
/// With train.checkpoint_every: an op that reads the weights (or their masters) and the optimizer's states that this
/// rank writes for all its replicas. In most steps it does nothing.
RankProgram add_checkpoint(RankProgram program, const StepProgram& step);
/// Deliberate faults of scenario.fault.plant in the program.
RankProgram plant_fault(RankProgram program, const StepProgram& step);
/// The fault "early_gather_read", which is in the edges.
RankProgram plant_missing_edge(RankProgram program, const StepProgram& step);
/// Gives every buffer its offset: persistent ones adjacent, the others by size into gaps between lifetimes,
/// views inside their buffers.
RankProgram place_buffers(RankProgram program);
/// Derives `after` and `after_previous` from the uses: an op that reads data of another lane, or writes where another
/// lane read or wrote, depends on it — by address, so that reused memory is covered. Implied edges are omitted.
RankProgram add_edges(RankProgram program);

// Helpers of several passes.

/// A run of compute ops of one chunk and micro-batch: ops[begin, end) from its first to its last op.
struct Action {
  OpId id;  ///< folded to the chunk
  std::size_t begin = 0, end = 0;
};
std::vector<Action> actions_of(const RankProgram& program);

/// False for a replica of a parameter that another rank of the model group counts in norms and writes in checkpoints:
/// the last stage's copy of a tied embedding, and on tensor ranks but the first, parameters that all of them have.
bool counts_parameter(const StepProgram& step, int rank, int parameter);
/// True where the tied embedding's gradient must be summed between the rank's stage and another one.
bool shares_embedding(const StepProgram& step, int rank);
/// The all-reduce for this sum. It is the last collective before the norm on both ends (one global order for
/// overlapping groups).
Op embedding_reduction(BufferIndex gradient);
/// Which collective of a block's segment it is: the index of its id. `again`: a backward gathers the data again.
enum class TensorPhase : std::uint8_t { forward, recompute, gradient, again };
/// The all-reduce of a bucket's gradients that each tensor rank has for its own rows only (Bucket::summed), after
/// the data group's reduction.
Op tensor_reduction(int chunk, int bucket, BufferIndex gradients);
/// Index after the last op that uses one of the buffers.
std::size_t after_last_use(const RankProgram& program, const std::vector<BufferIndex>& buffers);

struct Insertion {
  std::size_t position = 0;  ///< before ops[position]; ops.size() appends
  Op op;
};
/// The program without the buffers that are marked; no op uses them, and they contain no views.
RankProgram drop_buffers(RankProgram program, const std::vector<bool>& marked);
/// Inserts stably: several at one position keep their order.
RankProgram insert_ops(RankProgram program, std::vector<Insertion> insertions);

/// Positions in SegmentSpec's operand lists.
inline std::size_t backward_kept_at(const SegmentSpec& s, std::size_t i) { return s.gradient_inputs.size() + i; }
inline std::size_t backward_parameter_at(const SegmentSpec& s, std::size_t i) {
  return backward_kept_at(s, s.kept.size()) + i;
}
inline std::size_t backward_gradient_output_at(const SegmentSpec& s, std::size_t i) {
  return backward_parameter_at(s, s.parameters.size()) + i;
}
/// Of the input gradient's operands, the first of those it writes; the gradients of parameters are last in all three.
inline std::size_t input_gradient_output_at(const SegmentSpec& s, std::size_t i) {
  return s.gradient_inputs.size() + s.input_kept.size() + s.parameters.size() + i;
}
/// The model's segment that an op with block and segment runs.
const SegmentSpec& segment_of(const Model& model, OpId id);

}  // namespace rankscope
