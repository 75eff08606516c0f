// The recording of a run: a tap of the relay that exists before its file does, so that a run which is refused on the
// way leaves an older recording of that name alone.
//
// Under --keep last:TIME nobody knows which detail will be the latest before the run has ended. Until then it waits in
// a spool beside those of the ranks; what is not a step's detail goes to the file at once.
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
  /// Creates the file; what comes before goes nowhere. `directory` is the session's. Throws TraceError.
  void open(const std::string& path, const KeepPolicy& keep, const std::filesystem::path& directory);
  void accept(const Message& message) override;
  void accept_encoded(const EncodedMessage& message) override;
  void tick() override;
  /// Writes the file's end; empty, or one line about what is missing in the file and why. `forged`: messages that the
  /// relay ignored (RelayStatus).
  std::string close(std::int64_t forged);

 private:
  bool postpones(const Message& message);

  std::mutex mutex_;  // the relay's thread feeds, the supervisor's opens and closes
  std::unique_ptr<TraceWriter> writer_;
  std::filesystem::path waiting_folder_;
  std::chrono::nanoseconds keep_last_{0};
  std::unique_ptr<SpoolWriter> waiting_;  // null before the first detail
  std::optional<Message> end_;            // the session's, which comes behind what waits
};

}  // namespace rankscope
