// Ranks as processes with a GPU each, on one host or many, over NCCL. Another world starts it up: it carries the ids of
// NCCL's communicators, lets members announce their calls, and reports failures.
//
// With CommOptions::stamp_arrivals members wait for each other on the host before each call, so that calls which do not
// fit together and members that do not arrive are named, as under mpi; without it a call is only enqueued, and a
// mistake is found by the time limit. Messages from several ranks to one (lane server) always do so.
//
// When a peer is lost, NCCL's kernels wait for it on the device forever. So a watch checks all communicators about
// fifty times a second, and the world that started them: a failure there aborts all of them, which ends their
// kernels, and every present or next call throws CommError with the first reason.
//
// "auto" hands a collective to NCCL: its bytes on the wire are not known (-1), and the order of its sums is NCCL's. The
// transparent algorithms run over grouped sends and receives, and are counted.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/options.hpp"

namespace rankscope {

struct NcclOptions {
  std::string
      file{};  ///< of the library; empty: libnccl.so.2 as the system finds it, or where it was found while configuring
};

/// Takes `start_up`, all of whose ranks call this with the same options. The rank's GPU must be the calling thread's
/// current one. Throws CommError in one line when the library is missing or too old.
std::unique_ptr<World> nccl_world(std::unique_ptr<World> start_up, CommOptions options = {}, NcclOptions nccl = {});

/// Throws CommError in one line when the library is missing or too old.
void check_nccl_library(const NcclOptions& nccl = {});

/// Makes NCCL report what happens inside its collectives and messages (Communicator::late_phases, where
/// CommOptions::record_phases is set), unless the environment's NCCL_PROFILER_PLUGIN says otherwise: "none" is off. It
/// sets that variable, so it is called before there are other threads.
void enable_nccl_profiler();

/// Configures CUDA for NCCL's kernels, which wait on the device for their peers, unless the environment sets it
/// already: load all code before anything runs (the first launch of a kernel may wait until the device is idle). It
/// sets a variable that CUDA reads at its first call, so it is called before that, and before there are other threads.
/// (CUDA programming guide, "Lazy loading", potential hazards.) They need queues that are apart, too: prepare_platform.
void prepare_cuda_for_nccl();

/// Which of the GPUs that this rank sees is its own, so that no two ranks of a host have the same: collective over the
/// world. `visible` are unique names (PCI bus ids). Throws CommError on every rank, with the host and the first rank
/// that is left without, where they do not suffice.
int gpu_of_rank(World& world, const std::vector<std::string>& visible);
/// The same of a host of that name.
int gpu_of_rank(World& world, const std::vector<std::string>& visible, const std::string& host);
/// The same where ranks may share a GPU (mpi): a host's ranks take the GPUs that they see in turn. 0 where none is
/// seen.
int shared_gpu_of_rank(World& world, const std::vector<std::string>& visible);
int shared_gpu_of_rank(World& world, const std::vector<std::string>& visible, const std::string& host);

}  // namespace rankscope
