// The recording of a run: a tap of the relay that exists before its file does, so that a run which is refused on the
// way leaves an older recording of that name alone.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "telemetry/trace/trace_writer.hpp"

#include "engine/op/words.hpp"

namespace rankscope {

class Recorder : public EventSink {
 public:
  /// Creates the file; what comes before goes nowhere. Throws TraceError.
  void open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    writer_ = std::make_unique<TraceWriter>(path);
  }
  void accept(const Message& message) override {
    const std::lock_guard lock(mutex_);
    if (writer_) writer_->accept(message);
  }
  void accept_encoded(const EncodedMessage& message) override {
    const std::lock_guard lock(mutex_);
    if (writer_) writer_->accept_encoded(message);
  }
  void tick() override {
    const std::lock_guard lock(mutex_);
    if (writer_) writer_->tick();
  }
  /// Writes the file's end; empty, or one line about what is missing in the file and why.
  std::string close() {
    const std::lock_guard lock(mutex_);
    if (!writer_ || writer_->close()) return {};
    return writer_->error() + "; " + counted(writer_->lost_messages(), "message") + " are not in the recording";
  }

 private:
  std::mutex mutex_;  // the relay's thread feeds, the supervisor's opens and closes
  std::unique_ptr<TraceWriter> writer_;
};

}  // namespace rankscope
