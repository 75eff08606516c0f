// Shared by loopback and mpi: checking arguments, calling hooks, counting bytes, and running the transparent algorithms
// as transfer lists over any transport. Only for this folder's files.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/growing.hpp"
#include "engine/execute/comm/options.hpp"
#include "engine/plan/collective/transfer.hpp"
#include "kernels/device/host.hpp"

namespace rankscope::comm {

/// The ranks, the lane and the options of a communicator.
struct GroupSetting {
  std::vector<int> members;  ///< world ranks, ascending
  int index = 0;             ///< of this rank
  Lane lane = Lane::data;
  std::optional<Algorithm> algorithm;  ///< nullopt: the library's own
  CommOptions options;

  int rank() const { return members[index]; }
  int size() const { return static_cast<int>(members.size()); }
};

/// Checks the arguments of World::group; throws std::invalid_argument.
GroupSetting make_setting(std::vector<int> members, int rank, int world_size, Lane lane,
                          Choice<CollectiveChoice> algorithm, const CommOptions& options);

/// One message of this member, to send or to receive; `add` adds the received data to the buffer.
struct Message {
  bool is_send = false, add = false;
  int peer = 0;
  DType type = DType::u8;
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  /// When both ends had arrived (or, if unknown, when this end had) and when the data had been moved.
  std::int64_t begin_ns = 0, end_ns = 0;
  /// The same for queues: when this end had arrived, when both had, and when the data had been moved.
  Mark arrived{}, begin{}, moved{};
  std::int64_t bytes() const { return elements * bytes_of(type); }
};

class GroupCommunicator : public Communicator {
 public:
  std::span<const int> members() const final { return setting_.members; }
  int index() const final { return setting_.index; }
  void run_on(Device& device, Queue& queue) override {
    device_ = &device;
    queue_ = &queue;
  }

  void expect(const CollectiveCall& call) final;
  void reserve() final;

  CommResult send(View data, int to) final;
  CommResult receive(View data, int from) final;
  int first_sender(std::span<const int> from) final;
  CommResult collective(const CollectiveCall& call) final;

  WireBytes wire_bytes() const final;
  std::span<const PeerBytes> last_sent() const final { return last_sent_; }
  std::span<const PhaseRecord> last_phases() const final { return phases_; }
  std::int64_t device_bytes() const override { return device_->is_host() ? 0 : scratch_.bytes(); }

 protected:
  explicit GroupCommunicator(GroupSetting setting) : setting_(std::move(setting)) {}

  /// A send or receive that waits for its peer. Returns when both have arrived.
  virtual CommResult move(Message& message, const char* call) = 0;
  /// first_sender, of members that are peers of this one.
  virtual int wait_for_sender(std::span<const int> from, const char* call) = 0;
  /// All messages of one phase, in both directions at once, within `limit`; fills their times.
  virtual void move_all(std::span<Message> messages, const char* call, std::chrono::milliseconds limit) = 0;
  /// Memory for the messages of one phase that are added to a buffer, for a transport that needs it.
  virtual void reserve_added(std::int64_t) {}
  /// Waits until all members have made this call and their queues have reached it. Returns when the last one has.
  virtual CommResult rendezvous(const CollectiveCall& call) = 0;
  /// The library's own algorithm.
  virtual CommResult run_library(const CollectiveCall& call) = 0;

  friend class NcclCommunicator;  // its rendezvous uses a group of the world that started it

  /// For a transport that can only use host memory: device data of each call are copied to host memory and back; the
  /// lane's thread waits for the copies.
  void stage_through_host(Device& device, Queue& queue);

  const GroupSetting& setting() const { return setting_; }
  Device& device() { return *device_; }
  Queue& queue() { return *queue_; }
  void count_sent(int member, std::int64_t bytes);
  void count_received(std::int64_t bytes) { received_ += bytes; }
  void count_unknown() { opaque_ = true; }

 private:
  template <class Call>
  CommResult through_host(const View& whole, const View& part, Call call);
  CommResult point_to_point(View data, int peer, bool is_send);
  /// The data are in memory that this transport can use.
  CommResult run(CollectiveCall call);
  void run_transfers(const CollectiveCall& call);
  /// The transfers of a list that involve this member, and the phases of the complete list.
  struct OwnTransfers {
    std::vector<Transfer> transfers;
    int phases = 0;
  };
  const OwnTransfers& own_transfers(OpKind kind, int root, std::int64_t elements);
  /// A member that is not the root of a gather or scatter, and forwards parts of other members.
  bool passes_on(OpKind kind, int root, const OwnTransfers& own, std::int64_t elements) const;
  std::byte* scratch(std::int64_t bytes);

  GroupSetting setting_;
  HostDevice host_;
  HostQueue calling_thread_;
  Device* device_ = &host_;
  Queue* queue_ = &calling_thread_;
  /// The device of the tensors and its queue, and host memory for two of them.
  struct Stage {
    Device& device;
    Queue& queue;
    GrowingMemory memory[2]{};
    View take(int which, const View& tensor);
    void give_back(const View& here, const View& tensor);
  };
  std::optional<Stage> stage_;
  std::atomic<std::int64_t> sent_{0}, received_{0};  // a send and a receive may run in two threads
  std::atomic<bool> opaque_{false};
  std::vector<PeerBytes> last_sent_;  // used only by sends and collectives
  std::vector<PhaseRecord> phases_;
  // By kind, elements and root: lists are long, and steps repeat them.
  std::map<std::array<std::int64_t, 3>, OwnTransfers> own_transfers_;
  GrowingMemory scratch_;
  std::int64_t expected_scratch_ = 0, expected_added_ = 0;  ///< bytes
};

/// "rank 1, rank 3", shortened if there are many.
std::string list_ranks(std::span<const int> ranks);

/// "rank 2 waited 60 s in all_reduce on lane data for rank 1, rank 3".
std::string timeout_message(int rank, std::chrono::milliseconds limit, const char* call, Lane lane,
                            std::span<const int> missing);

/// Values that must be equal on all members of a collective: kind, root (-1 if none), type, and elements of the tensor
/// or part that every member has.
using CallWord = std::array<std::int64_t, 4>;
CallWord word_of(const CollectiveCall& call);
/// A CallWord as text, for when members disagree: "all_reduce of 100 fp32".
std::string describe(const CallWord& word);

/// The name of a collective as a C string.
inline const char* call_name(OpKind kind) { return name_of(kind).data(); }

/// The position of member `index`'s part in `whole`.
void* part_in(const View& whole, const View& part, int index);

}  // namespace rankscope::comm
