// One group of processes on one lane. Only for the mpi files of this folder.
#pragma once
#include "engine/execute/comm/group.hpp"
#include "engine/execute/comm/mpi_process.hpp"

namespace rankscope::comm {

class MpiCommunicator final : public GroupCommunicator {
 public:
  /// Owns `comm`, whose ranks are the group's members in order.
  MpiCommunicator(std::shared_ptr<MpiProcess> process, MPI_Comm comm, GroupSetting setting);
  ~MpiCommunicator() override;
  /// MPI does not need to support GPU memory.
  void run_on(Device& device, Queue& queue) override {
    if (!device.is_host()) stage_through_host(device, queue);
  }

 protected:
  CommResult move(Message& message, const char* call) override;
  void move_all(std::span<Message> messages, const char* call, std::chrono::milliseconds limit) override;
  int wait_for_sender(std::span<const int> from, const char* call) override;
  CommResult rendezvous(const CollectiveCall& call) override;
  CommResult run_library(const CollectiveCall& call) override;

 private:
  /// Starts a message's transfer into or out of `data`: synchronous, in pieces that MPI can count.
  void start(const Message& message, std::byte* data, std::vector<MPI_Request>& requests);
  /// `peers` are the world ranks that the requests wait for, one each; one request may wait for all of them.
  void wait(std::span<MPI_Request> requests, const char* call, std::span<const int> peers, MpiProcess::Waiting what,
            std::chrono::milliseconds limit);
  /// Fails the world: the two ends of a message have different numbers of bytes.
  [[noreturn]] void refuse_sizes(const Message& message, std::int64_t theirs);
  void start_library(const CollectiveCall& call, std::vector<MPI_Request>& requests);

  std::shared_ptr<MpiProcess> process_;
  MPI_Comm comm_;
  std::size_t looked_last_ = 0;  // so that no sender is always found first
  // The received data of an added message before the addition.
  std::unique_ptr<std::byte[]> staging_;
  std::int64_t staging_bytes_ = 0;
};

}  // namespace rankscope::comm
