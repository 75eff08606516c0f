// The current op of every lane of every rank, and the missing ranks: the explanation of a hang, during it and
// afterwards.
//
// An op is reported when it ends. So the current op of a lane is found from the linked step: lanes run in order, and an
// op begins once all ops that it depends on have ended.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/step/step.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// The state of one lane of one rank.
struct LanePlace {
  std::int32_t rank = 0;
  Lane lane = Lane::compute;
  OpId left;  ///< the last op that ended; not valid() before the first
  std::uint32_t left_step = 0;
  std::int64_t left_ns = 0;
  OpId next;  ///< its next op; not valid() after all steps
  std::uint32_t next_step = 0;
  bool entered = false;         ///< all dependencies of `next` have ended: the lane is in it
  std::int64_t entered_ns = 0;  ///< start time
  OpId waits_for;               ///< required before it can enter `next`; not valid() if it has entered
  bool in_order = true;         ///< false for an asynchronous server: it serves any worker, so `next` is unknown
};

/// The state of a member of a communication.
enum class MemberState : std::uint8_t { not_arrived, arrived, finished };

/// A communication that some of its members are in.
struct PendingCommunication {
  OpId op;  ///< of a message, the sender's
  std::uint32_t step = 0;
  GroupKind group = GroupKind::self;  ///< of a collective
  std::vector<int> members;           ///< of a message: sender and receiver
  std::vector<MemberState> states;    ///< [member]
  std::int64_t since_ns = 0;          ///< when the first of its present members arrived
  bool waits() const;                 ///< a member is missing
  std::vector<int> missing() const;   ///< their ranks
};

/// An asynchronous server at its bound of staleness: workers ahead are not served until the others have caught up.
struct StalenessWait {
  int server = 0;
  std::uint32_t oldest = 0;  ///< the step that lacks contributions
  std::uint32_t last = 0;    ///< contributions of later steps wait until then
  std::vector<int> workers;  ///< whose contributions of `oldest` are missing
};

struct Standstill {
  std::vector<LanePlace> lanes;     ///< by rank and lane: those that the rank's program has
  std::vector<PendingCommunication>
      pending;  ///< of which a member is missing: those for late ranks first, then longest first
  std::vector<StalenessWait>
      staleness_waits;  ///< by server: asynchronous ones in which a worker waits because it is ahead
  /// Ranks for which others wait, directly or indirectly, and that wait for no rank: they are working, or lost.
  std::vector<int> late;
  bool cycle = false;  ///< `late` wait for each other in a cycle: the programs deadlock
  std::int64_t last_event_ns = 0;

  const LanePlace* find(int rank, Lane lane) const;
  /// Null if no worker waits for that server because it is ahead.
  const StalenessWait* staleness_wait_of(int server) const;
  /// A late rank's current op that is not a communication, if any.
  const LanePlace* own_work(int rank) const;
};

/// `spans`: all measured spans from `first_step` on; ops of earlier steps have ended. `ends`: of ranks that have ended;
/// one that failed by itself is first in `late`. `steps`: the planned number of steps.
Standstill where_ranks_are(const Step& linked, const std::vector<Span>& spans, std::uint32_t first_step,
                           std::int64_t steps, const std::vector<End>& ends);

/// One sentence: the late rank, its op, and the ranks that wait for it. Empty if no rank waits.
std::string sentence_of(const Standstill& standstill, const std::vector<End>& ends);

}  // namespace rankscope
