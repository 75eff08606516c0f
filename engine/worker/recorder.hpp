// The recording of a run: a tap of the relay that exists before its file, so that a run that is rejected
// at its start does not change an older recording of that name.
//
// With --keep last:TIME the latest detail is unknown until the run has ended. Until then it is stored in
// a spool next to those of the ranks; all other messages are written to the file at once.
#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "telemetry/stream/keep_policy.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope {

class Recorder : public EventSink {
 public:
  /// Creates the file; earlier messages are dropped. `directory` is the session's. Throws TraceError.
  void open(const std::string& path, const KeepPolicy& keep, const std::filesystem::path& directory);
  void accept(const Message& message) override;
  void accept_encoded(const EncodedMessage& message) override;
  void tick() override;
  /// The disk's first error; empty: none.
  std::string trouble();
  /// What is not in the file; `reason` is empty if all is.
  struct Missing {
    std::int64_t messages = 0;
    std::string reason;
  };
  /// Writes the file's end. `forged`: messages that the relay ignored (RelayStatus).
  Missing close(std::int64_t forged);

 private:
  bool postpones(const Message& message);

  std::mutex mutex_;  // the relay's thread writes, the supervisor's opens and closes
  std::unique_ptr<TraceWriter> writer_;
  std::filesystem::path waiting_folder_;
  std::chrono::nanoseconds keep_last_{0};
  std::unique_ptr<SpoolWriter> waiting_;  // null before the first detail
  std::optional<Message> end_;            // the session's, written after the spooled detail
};

}  // namespace rankscope
