// One collective or message of one step in detail: its members, their waits, source, destination and time of each
// chunk's moves. All of it is known for transparent collectives; for opaque ones (the library's own) only the members'
// times.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/collective/cost.hpp"
#include "engine/step/step.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// Bytes that move from one member to another in one phase. Members are indices into GroupExchange::ranks.
struct ExchangeMove {
  int phase = 0, from = 0, to = 0;
  int first_chunk = 0, last_chunk = 0;  ///< chunks [first, last)
  std::int64_t bytes = 0;
  bool add = false;                        ///< summed into the receiver's data
  std::int64_t begin_ns = 0, end_ns = -1;  ///< as recorded on the wall clock; end before begin: not recorded
  bool timed() const { return end_ns >= begin_ns; }
};

struct GroupExchange {
  OpId op;  ///< for a message, its sender's
  std::uint32_t step = 0;
  OpKind kind = OpKind::send;
  /// Of a parameter server's messages, whose ids are the same in both directions: whether the server sends it
  /// (parameters), else a worker (gradients).
  std::optional<bool> serves;
  std::vector<int> ranks;                  ///< members, ascending; for a message, sender and receiver
  std::vector<std::optional<Span>> spans;  ///< [member]; empty: unknown
  int root = 0;                            ///< member, of a rooted collective
  std::int64_t bytes = -1;                 ///< S of whole_bytes: called size by nccl-tests; -1: unknown
  bool opaque = false;                     ///< its phases are unknown: `moves` is empty
  /// Phases that a library reported (PhaseSpan), of an opaque collective or of a message. By rank, channel and
  /// time.
  std::vector<PhaseSpan> inside;
  std::optional<Algorithm> algorithm;     ///< of a transparent collective
  std::vector<std::int64_t> chunk_bytes;  ///< of each chunk of a buffer
  int phases = 0;
  std::vector<ExchangeMove> moves;  ///< by phase
  bool timed = false;               ///< all moves have their times

  int size() const { return static_cast<int>(ranks.size()); }
  /// Whether the data are summed: then a chunk is complete with all members' parts, else after arrival.
  bool sums() const;
};

/// The exchange that op `op` of `rank` is part of. `spans` are the step's, obtained one way; `phases` those of all its
/// members, in any order (duplicates are allowed). `algorithm` as in the plan; empty: the communicator's own. Nothing
/// if the op is no communication of that rank, if its members are not known, or if its group has one member.
std::optional<GroupExchange> exchange_of(const Step& linked, std::optional<Algorithm> algorithm,
                                         const std::vector<Span>& spans, const std::vector<PhaseSpan>& phases, int rank,
                                         std::uint32_t step, OpId op);

/// Number of members' parts in each chunk of each member's buffer: for sums up to all of them, else none or one.
class Holdings {
 public:
  /// Before the first phase.
  explicit Holdings(const GroupExchange& exchange);
  void apply(const ExchangeMove& move);
  int at(int member, int chunk) const { return count_[member * chunks_ + chunk]; }
  /// The content of a complete chunk.
  int whole() const { return whole_; }

 private:
  int& count(int member, int chunk) { return count_[member * chunks_ + chunk]; }
  int chunks_ = 0, whole_ = 1;
  bool two_buffers_ = false;  ///< all-to-all: sent and received data are in different buffers
  std::vector<int> count_;
};

/// Times of all exchanges of one purpose and kind in a step.
struct ExchangeTimes {
  Purpose purpose = Purpose::none;
  OpKind kind = OpKind::send;  ///< send: both ends of a message
  int members = 0;             ///< of a group; the largest if they differ
  int exchanges = 0;           ///< of all groups
  double waiting_s = 0;        ///< mean over the participating ranks: inside the ops, before the last member arrived
  /// The time in which bytes moved, a mean over the ranks that send. NaN without a sender's span.
  double transfer_s = 0;
  /// Bytes/s: sizes times bus_factor divided by the time of the last to arrive, for all exchanges together. NaN if no
  /// exchange has all its members' spans and a known size, or none took time.
  double bus_bandwidth = 0;
};
/// By purpose and kind. `spans` are one step's, obtained one way.
std::vector<ExchangeTimes> exchange_times(const Step& linked, const std::vector<Span>& spans);

/// Bytes between ranks in a step, by the sizes of its exchanges. Above `most_cells` ranks neighbours share a cell.
struct TrafficMatrix {
  int ranks = 0, side = 0;
  std::vector<double> bytes;  ///< [from · side + to]
  std::vector<char> hidden;   ///< 1 if opaque collectives also move an unknown number of bytes
  double total = 0, greatest = 0;

  double at(int from, int to) const { return bytes[from * side + to]; }
  bool hides(int from, int to) const { return hidden[from * side + to] != 0; }
  /// Ranks [first, last) of a cell's row or column.
  int first_rank(int cell) const { return side == 0 ? 0 : static_cast<int>(std::int64_t{ranks} * cell / side); }
  int cell_of(int rank) const;
};
struct TrafficKey {
  Purpose purpose = Purpose::none;
  OpKind kind = OpKind::send;
};
/// Traffic of a library's own collectives ("auto"): unknown, or the same as loopback's (pair_elements).
enum class Automatic : std::uint8_t { opaque, direct };
/// `only`: only ops of that purpose and kind.
TrafficMatrix traffic_matrix(const Step& linked, std::optional<Algorithm> algorithm,
                             std::optional<TrafficKey> only = {}, int most_cells = 256,
                             Automatic automatic = Automatic::opaque);

}  // namespace rankscope
