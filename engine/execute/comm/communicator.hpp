// Communication of a group of ranks on one lane. The one small virtual class of the engine; loopback (ranks are
// threads of one process), mpi and nccl implement it.
//
// Data are in the memory of the device whose queue the communicator uses: the host's, unless run_on() sets another. On
// a GPU's queue a call returns once its transfers are enqueued there and at its peers, after everything enqueued
// before; only the rendezvous of the ranks is on the host.
//
// All calls block the calling lane's thread. Each has the world's time limit; CommError names the ranks that did not
// arrive. Collectives must be called by all members in the same order: the same call with the same root, element type
// and number of elements, or it ends with a CommError that names two ranks and what each of them called.
//
// Sums are computed in the tensor's own type, those of bf16 and fp16 in fp32, rounded once per call of the library's
// algorithm (per addition under mpi) and once per hop of a transparent one; i32 and u8 wrap around. Their order is
// fixed, for any order of arrival: member order for loopback's "auto", the transfer list's for a transparent algorithm
// (engine/plan/collective/transfer.hpp), and MPI's own for mpi's "auto", which depends on the sizes of group and
// tensor.
//
// Parts are equal. A tensor that size() does not divide is padded by the caller that splits it (as ZeRO's shards are);
// only broadcast, reduce and all_reduce accept any number of elements, and split it into chunks that may differ by one.
// Unnecessary copies are avoided: if `part` is its place in `whole`, a call works in place.
//
// In a transparent gather or scatter by "ring", "tree" or "halving-doubling", members that forward parts keep memory
// for all parts, and under mpi also the size of one phase's received data in a sum.
//
// One thread of a rank may send while another receives on the same communicator (not under nccl, where they are
// serialised); all other calls are one at a time.
// If any call throws CommError, the complete world fails: all other waits of all ranks end with the first reason.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "kernels/device/device.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// A peer that died, left or did not arrive in time: what() names rank, peer, lane and op.
struct CommError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The result of one call. `active_ns` is on the monotonic clock of this process: when the last participant had arrived
/// and bytes could move, so that [call, active) is waiting for a peer and [active, return) is transfer; -1 if it is
/// unknown (an opaque collective of a library).
struct CommResult {
  std::int64_t active_ns = -1;
  Mark active{};  ///< if a queue is not the calling thread: the same as a position in it
};

/// Bytes that this communicator sent and received on the wire, counted at the transport; -1 for opaque collectives.
struct WireBytes {
  std::int64_t sent = 0, received = 0;
};

/// The bytes sent to one member in a call.
struct PeerBytes {
  int peer = 0;  ///< world rank
  std::int64_t bytes = 0;
  bool operator==(const PeerBytes&) const = default;
};

/// One transfer inside a transparent collective or message, for the picture of its phases. For phases that a library
/// reports, `chunk` is a channel, phase 0 the channel's part of the kernel, and phase s + 1 its transfer s over the
/// network.
struct PhaseRecord {
  int phase = 0, chunk = 0;
  int from = 0, to = 0;                   ///< world ranks; -1: unknown
  std::int64_t bytes = 0;                 ///< -1: unknown
  std::int64_t begin_ns = 0, end_ns = 0;  ///< monotonic clock
  Mark begin{}, end{};                    ///< if not null, their times are used
};

/// A phase reported after its call had returned.
struct LatePhase {
  std::uint64_t call = 0;  ///< the number set by name_calls()
  PhaseRecord phase;
};

/// One member's side of a collective. `whole` is the tensor of a collective without parts, which is changed in place;
/// for the others it is size() equal parts in member order, and `part` this member's, which may be its place in
/// `whole`. all_to_all sends `whole` and receives the same size into `part`.
struct CollectiveCall {
  OpKind kind = OpKind::all_reduce;
  View whole{}, part{};
  int root = 0;    ///< an index into members(), if the kind has a root
  Mark arrived{};  ///< when this member's queue has reached it: set by communicators
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual std::span<const int> members() const = 0;  ///< world ranks, ascending
  virtual int index() const = 0;                     ///< of this rank in members()
  /// Later calls are enqueued there; all members do the same, before the first call.
  virtual void run_on(Device& device, Queue& queue) = 0;
  int size() const { return static_cast<int>(members().size()); }

  /// Announces that this collective will be called on these tensors. After reserve(), an announced call allocates no
  /// device memory: an allocation may block while the work of another queue waits on the device for a peer.
  virtual void expect(const CollectiveCall&) {}
  /// Call it after run_on().
  virtual void reserve() {}

  /// Rendezvous: returns once the peer has received. `to` and `from` are indices into members().
  virtual CommResult send(View data, int to) = 0;
  virtual CommResult receive(View data, int from) = 0;
  /// Waits until one of these members sends to this one, and returns it: the first to arrive (under mpi the first
  /// found). Its message must still be received.
  virtual int first_sender(std::span<const int> from) = 0;

  /// A reduce leaves the sum at the root; other members' data is unspecified after it. A scatter's or gather's `whole`
  /// is used at the root only. After a reduce_scatter `whole` is unspecified, except for this member's place if that is
  /// `part`.
  virtual CommResult collective(const CollectiveCall& call) = 0;

  /// Device memory (not the host's) that this member keeps to stage or add received data. It grows for requests larger
  /// than announced, but not during a call.
  virtual std::int64_t device_bytes() const = 0;
  virtual WireBytes wire_bytes() const = 0;
  /// The bytes that the last send or collective of this member sent to each other one, as wire_bytes counts them; empty
  /// if there are none, or if they are unknown.
  virtual std::span<const PeerBytes> last_sent() const = 0;
  /// The transfers that this member received in the last collective, phase by phase, if it was transparent and phases
  /// are recorded; empty otherwise. The records of all members together contain each transfer once.
  virtual std::span<const PhaseRecord> last_phases() const = 0;

  /// Later calls have this number in late_phases(). Call it on the calling thread of the collectives.
  virtual void name_calls(std::uint64_t) {}
  /// The phases that a library reported since the previous query. One thread at a time, any thread.
  virtual std::vector<LatePhase> late_phases() { return {}; }
  /// More reports are expected, for finished or future calls.
  virtual bool awaits_late_phases() const { return false; }
};

/// One rank's view of all ranks.
class World {
 public:
  virtual ~World() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string_view name() const = 0;  ///< "loopback", "mpi", "nccl"

  /// Collective over `members` (which include this rank): one communicator per lane and group. `algorithm` is "auto" or
  /// a transparent one (engine/plan/collective).
  virtual std::unique_ptr<Communicator> group(std::vector<int> members, Lane lane,
                                              Choice<CollectiveChoice> algorithm) = 0;

  /// Every rank's copy of `mine`, in rank order. For set-up and end-of-step bookkeeping, not for training data.
  virtual std::vector<std::string> exchange(const std::string& mine) = 0;

  /// Ends every wait of every rank with CommError(`why`); used when this rank fails.
  virtual void abort(const std::string& why) = 0;

  /// Throws CommError with the reason if this rank or another has failed: for callers that do not wait. Any thread.
  virtual void throw_if_failed() = 0;

  /// Tells every rank, this one included, that the run is asked to stop; is_asked_to_stop() is true there soon
  /// afterwards. Any thread.
  virtual void ask_to_stop() = 0;
  virtual bool is_asked_to_stop() = 0;
};

}  // namespace rankscope
