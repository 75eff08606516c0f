// Where every lane of every rank stands, and who did not come: what a hang is explained from, while it is one and
// after.
//
// An op tells of itself when it ends. So what a lane is in now is found from the programs: lanes run in order, and an
// op begins once all that it comes after has ended.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// Where one lane of one rank stands.
struct LanePlace {
  std::int32_t rank = 0;
  Lane lane = Lane::compute;
  OpId left;  ///< the last op that ended; not valid() before the first
  std::uint32_t left_step = 0;
  std::int64_t left_ns = 0;
  OpId next;  ///< what it does next; not valid() when it has done all steps
  std::uint32_t next_step = 0;
  bool entered = false;         ///< all that `next` comes after has ended: the lane is in it
  std::int64_t entered_ns = 0;  ///< since when
  OpId held_by;                 ///< what it waits for before it can enter `next`; not valid() when it is in it
  bool in_order = true;         ///< false of an asynchronous server: it takes what comes, so `next` is not known
};

/// How far a member of a communication is with it.
enum class Came : std::uint8_t { not_yet, in, left };

/// A communication that some of its members are in.
struct Meeting {
  OpId op;  ///< of a message, the sender's
  std::uint32_t step = 0;
  GroupKind group = GroupKind::self;  ///< of a collective
  std::vector<int> members;           ///< of a message: sender and receiver
  std::vector<Came> came;             ///< [member]
  std::int64_t since_ns = 0;          ///< when the first of those who are in it came
  bool waits() const;                 ///< somebody has not come
  std::vector<int> missing() const;   ///< their ranks
};

/// An asynchronous server's bound on staleness, reached: who is ahead is not served until the others have caught up.
struct HeldBack {
  int server = 0;
  std::uint32_t oldest = 0;  ///< the step that lacks contributions
  std::uint32_t last = 0;    ///< of later steps than this nothing is taken until then
  std::vector<int> workers;  ///< whose contributions of `oldest` have not come
};

struct Standstill {
  std::vector<LanePlace> lanes;     ///< by rank and lane: those that the rank's program has
  std::vector<Meeting> meetings;    ///< that wait: for late ranks first, then longest first
  std::vector<HeldBack> held_back;  ///< by server: asynchronous ones in which somebody waits because he is ahead
  /// Ranks that others wait for, themselves or through others, and that wait for nobody: they are at work, or gone.
  std::vector<int> late;
  bool cycle = false;  ///< `late` wait for each other in a circle: the programs deadlock
  std::int64_t last_event_ns = 0;

  const LanePlace* find(int rank, Lane lane) const;
  /// Null where nobody waits for that server because he is ahead.
  const HeldBack* held_by_server(int server) const;
  /// The op that a late rank is in by itself, if any: not a communication.
  const LanePlace* own_work(int rank) const;
};

/// `spans`: measured ones of the latest steps, all from `first_step` on; what ran before has ended. `ends`: of ranks
/// that have ended; one that failed by itself is late before all others. `steps` are planned in all.
Standstill where_ranks_are(const std::vector<RankProgram>& programs, const RankGrid& grid,
                           const std::vector<Span>& spans, std::uint32_t first_step, std::int64_t steps,
                           const std::vector<End>& ends);

/// One sentence: who is late, in what, and who waits for it. Empty when nobody waits.
std::string sentence_of(const Standstill& standstill, const std::vector<End>& ends);

}  // namespace rankscope
