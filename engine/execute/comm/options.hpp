// Options of every communicator of a world, set when the world is created.
#pragma once
#include <chrono>
#include <functional>
#include <string>

#include "engine/op/kind.hpp"

namespace rankscope {

struct CommOptions {
  /// Every call that waits longer for its peers throws CommError with the names of those that did not arrive. The later
  /// phases of a transparent collective have up to a quarter more.
  std::chrono::milliseconds time_limit{60'000};
  /// Record the transfers of the last transparent collective (Communicator::last_phases), and those that a library
  /// reports (late_phases).
  bool record_phases = false;
  /// mpi only: members report their arrival to each other before bytes move, so that CommResult::active_ns is known and
  /// a time-out names the missing ranks. Costs two small messages per member and call. Loopback always has it.
  bool stamp_arrivals = true;
  /// Called by `rank`'s thread before each operation ("send", "all_reduce", …) of a communicator: used to inject delays
  /// or faults. Its exceptions leave the call.
  std::function<void(int rank, Lane lane, const char* call)> before;
  /// The same before each phase of a transparent collective in which this rank has a transfer. Members with further
  /// phases are then in the middle of the collective.
  std::function<void(int rank, Lane lane, const char* call, int phase)> before_phase;
};

}  // namespace rankscope
