// PyTorch's profiler writes one trace per rank (Kineto, Chrome's JSON form, plain or gzipped): read as a RankTrace.
//
// What the trace does not say is inferred:
// - Steps are the annotations ProfilerStep#N. Work of a device belongs to the step in which it was launched, other work
//   to the step in which it begins; what happens between two steps belongs to the first. Without any, all is step 0.
// - Backward: within an operator autograd::engine::evaluate_function, or on a thread that has such operators and is not
//   the main thread. Recompute: within CheckpointFunctionBackward, up to the backward inside it, and operators within a
//   backward that autograd records for another one. Optimizer: within Optimizer.step# or Optimizer.zero_grad#. Load
//   batch: within enumerate(DataLoader)#. The innermost counts. Else work of the main thread is forward if a backward
//   of the same step comes later. All else is `compute`. For a kernel or a fill of memory it is the launch that counts.
// - Copies within a device are computations; `copy` is between device and host or two devices.
// - The main thread has the step annotations; without any, it is the one with most operators outside backward.
// - A kernel communicates if it has a collective's arguments or a name such as ncclDevKernel_AllReduce. What it lacks,
//   the operator record_param_comms or the annotation nccl:… around its launch may say. A send-receive kernel of
//   several messages has the direction and the peer of the last one.
// - Without a GPU, threads compute, and gloo:… annotations are the exchanges. An operator that issues an exchange is
//   replaced by the operators inside it, since it may wait; c10d's own operators issue or wait, so they are left out.
//   With a GPU, threads have their outermost operators and calls.
// - Thread lanes are named by what they are, not by number, so that ranks can be compared.
// - A group that an event does not name is that of pg_config if there is only one of several ranks.
#pragma once
#include <filesystem>

#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {

/// Lanes of a rank; more streams, groups or threads share one.
inline constexpr std::size_t most_lanes = 48;

/// Throws ImportError: a file that cannot be read, is no JSON, is cut, has no traceEvents or none that matter.
RankTrace read_kineto(const std::filesystem::path& file);

/// By its name: .json and .json.gz.
bool looks_like_trace(const std::filesystem::path& file);

/// Of names such as "rank3.json", "trace_rank_3.pt.trace.json.gz" or "worker3.json"; −1: none.
int rank_in_name(const std::filesystem::path& file);
/// Of names such as "trace_3.json"; −1: none. It may be of anything.
int number_at_end(const std::filesystem::path& file);

}  // namespace rankscope::import
