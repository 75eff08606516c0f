// One group of GPUs on one lane. Only for the nccl files of this folder.
#pragma once
#include "engine/execute/comm/nccl_session.hpp"

namespace rankscope::comm {

class NcclCommunicator final : public GroupCommunicator {
 public:
  /// Collective over the members. `host`: the same group in the world that started NCCL.
  NcclCommunicator(std::shared_ptr<NcclSession> session, std::unique_ptr<GroupCommunicator> host, GroupSetting setting);
  std::int64_t device_bytes() const override { return GroupCommunicator::device_bytes() + staging_.bytes(); }
  void name_calls(std::uint64_t call) override { call_ = call; }
  std::vector<LatePhase> late_phases() override;
  bool awaits_late_phases() const override;

 protected:
  CommResult move(Message& message, const char* call) override;
  void move_all(std::span<Message> messages, const char* call, std::chrono::milliseconds limit) override;
  int wait_for_sender(std::span<const int> from, const char* call) override;
  void reserve_added(std::int64_t bytes) override { staging_.at_least(bytes, device(), &Device::reserve); }
  CommResult rendezvous(const CollectiveCall& call) override;
  CommResult run_library(const CollectiveCall& call) override;

 private:
  bool uses_rendezvous() const;
  /// Enqueues, and adds the call to the watch.
  void issue(const char* call, const NcclWorks& works, const Mark& arrived, std::span<const int> peers,
             std::chrono::milliseconds limit, const NcclClique::Enqueue& enqueue);
  /// Sends and receives at the same time; nothing if all are empty. Their phases are reported as that call's.
  void issue_messages(std::span<const Message> messages, std::optional<std::uint64_t> inside_of, const char* call,
                      const Mark& arrived, std::chrono::milliseconds limit);
  /// In NCCL, scatter, gather and all_to_all are messages.
  std::vector<Message> messages_of(const CollectiveCall& call);

  std::shared_ptr<NcclSession> session_;
  std::unique_ptr<GroupCommunicator> host_;
  /// The received data of an added message before the addition. NCCL may write it until the communicator has ended.
  GrowingMemory staging_;
  std::unique_ptr<NcclClique> clique_;  ///< null in a group of one
  std::vector<int> others_;             ///< world ranks
  std::optional<std::uint64_t> call_;   ///< the name of the current calls
};

}  // namespace rankscope::comm
