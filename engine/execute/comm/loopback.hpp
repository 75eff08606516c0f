// Ranks as threads of one process: needs no launcher, and is the default on a laptop.
//
// The ranks share no parameter, gradient or optimizer memory: all data from one rank to another are copied here, and
// counted. Waiting threads sleep (eight ranks may share two cores). Sums of the "auto" algorithm are computed in member
// order, so that the result is bit-identical on every member, in every run and for every partition of the data.
#pragma once
#include <memory>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/options.hpp"

namespace rankscope {

/// The rendezvous of the ranks of one process; lives as long as any of its worlds or communicators.
class LoopbackHub;

/// A hub for `ranks` ranks. Throws std::invalid_argument when that is less than one.
std::shared_ptr<LoopbackHub> make_loopback(int ranks, CommOptions options = {});

/// Rank `rank`'s view: one for each rank, created and used by any thread of that rank. group() and exchange() are
/// called by one thread of a rank at a time; the communicators may then be used at the same time, each by one thread.
std::unique_ptr<World> world(std::shared_ptr<LoopbackHub> hub, int rank);

}  // namespace rankscope
