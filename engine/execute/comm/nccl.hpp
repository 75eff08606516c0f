// Ranks as processes with a GPU each, on one host or several, over NCCL. Another world starts it: it transfers the ids
// of NCCL's communicators, lets members announce their calls, and reports failures.
//
// With CommOptions::stamp_arrivals members wait for each other on the host before each call, so that mismatched calls
// and members that do not arrive are reported, as under mpi; without it a call is only enqueued, and an error is
// detected by the time limit. Messages from several ranks to one (lane server) always wait on the host.
//
// If a peer is lost, NCCL's kernels wait for it on the device forever. So a watch checks all communicators about fifty
// times a second, and the world that started them: a failure there aborts all of them, which ends their kernels, and
// every current or next call throws CommError with the first reason.
//
// "auto" passes a collective to NCCL: its bytes on the wire are unknown (-1), and the order of its sums is NCCL's. The
// transparent algorithms use grouped sends and receives, and are counted.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/options.hpp"

namespace rankscope {

struct NcclOptions {
  std::string
      file{};  ///< of the library; empty: libnccl.so.2 as found by the system, or where it was found while configuring
};

/// Owns `start_up`; all of its ranks call this with the same options. The rank's GPU must be the calling thread's
/// current one. Throws CommError in one line if the library is missing or too old.
std::unique_ptr<World> nccl_world(std::unique_ptr<World> start_up, CommOptions options = {}, NcclOptions nccl = {});

/// Throws CommError in one line if the library is missing or too old.
void check_nccl_library(const NcclOptions& nccl = {});

/// Makes NCCL report events inside its collectives and messages (Communicator::late_phases, if
/// CommOptions::record_phases is set), unless the environment sets NCCL_PROFILER_PLUGIN to another value: "none" is
/// off. It sets that variable, so call it before there are other threads.
void enable_nccl_profiler();

/// Configures CUDA for NCCL's kernels, which wait on the device for their peers, unless the environment sets it
/// already: load all code before anything runs (the first launch of a kernel may wait until the device is idle). It
/// sets a variable that CUDA reads at its first call, so call it before that, and before there are other threads. (CUDA
/// programming guide, "Lazy loading", potential hazards.) They need separate queues, too: prepare_platform.
void prepare_cuda_for_nccl();

/// Selects one of the GPUs visible to this rank, so that no two ranks of a host have the same: collective over the
/// world. `visible` are unique names (PCI bus ids). If there are too few, throws CommError on every rank, with the host
/// and the first rank without a GPU.
int gpu_of_rank(World& world, const std::vector<std::string>& visible);
/// The same for a host of that name.
int gpu_of_rank(World& world, const std::vector<std::string>& visible, const std::string& host);
/// The same if ranks may share a GPU (mpi): a host's ranks get the visible GPUs in turn. 0 if none is visible.
int shared_gpu_of_rank(World& world, const std::vector<std::string>& visible);
int shared_gpu_of_rank(World& world, const std::vector<std::string>& visible, const std::string& host);

}  // namespace rankscope
