// Records a run as an MCAP file: every message unchanged, and scalar topics that other MCAP viewers plot.
//
// Topics /rankscope/{control,summary,spans,memory,phases} contain the wire form (encoding "flatbuffer", with the
// schema). /loss, /gradient_norm, /learning_rate, /loss_scale (fp16), /tokens_per_second, /step_seconds, /energy and
// /power (if there was a counter) and /memory/rank_N are small JSON objects computed from the summaries. Log times are
// nanoseconds since the session's start.
//
// Chunks are closed at 1 MiB or 1 s and then passed to the operating system, so a killed process loses at most a
// second; without its end the file is still readable.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/trace/marks.hpp"
#include "telemetry/trace/trace_error.hpp"

namespace rankscope {

struct TraceWriterOptions {
  std::size_t chunk_bytes = std::size_t{1} << 20;  ///< before compression
  std::chrono::milliseconds chunk_age{1000};
  int compression_level = 1;  ///< zstd's
  bool scalars = true;        ///< topics for other viewers
};

class TraceWriter : public EventSink {
 public:
  /// Creates the file; throws TraceError if that fails. One thread.
  explicit TraceWriter(std::string path, TraceWriterOptions options = {});
  /// Calls close() and ignores its result: call close() yourself to get it.
  ~TraceWriter() override;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Never throws for disk errors: messages that cannot be written are counted, and error() has the reason.
  void accept(const Message& message) override;
  void accept_encoded(const EncodedMessage& message) override;
  /// Closes the chunk if it is old enough.
  void tick() override;
  /// A value for other viewers' plots, such as ("/bubble", t, {{"measured", 0.21}}).
  void scalar(std::string_view topic, std::int64_t time_ns, const std::vector<std::pair<std::string, double>>& values);
  /// Notes how many messages the relay ignored because their senders had not proved to be workers. Once, at the end.
  void count_forged(std::int64_t messages);
  /// A mark of an older recording of this run, written when this one is closed.
  void mark(TraceMark mark);
  void flush();
  /// Writes index and summary. False, with the reason in error(), if anything was not written to the file.
  bool close();

  std::int64_t messages() const;       ///< written or waiting in the chunk
  std::int64_t lost_messages() const;  ///< that the disk did not accept
  std::uint64_t bytes() const;         ///< in the file
  const std::string& error() const;    ///< empty without errors

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
