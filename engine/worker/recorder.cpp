#include "engine/worker/recorder.hpp"

#include "telemetry/event/encoded.hpp"

namespace rankscope {

void Recorder::open(const std::string& path, const KeepPolicy& keep, const std::filesystem::path& directory) {
  const std::lock_guard lock(mutex_);
  writer_ = std::make_unique<TraceWriter>(path);
  keep_last_ = keep.last;
  waiting_folder_ = directory / "recording";
  if (keep_last_.count() > 0) std::filesystem::create_directory(waiting_folder_);
}

void Recorder::accept(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (writer_ && !postpones(message)) writer_->accept(message);
}

void Recorder::accept_encoded(const EncodedMessage& message) {
  const std::lock_guard lock(mutex_);
  if (!writer_) return;
  const bool is_detail = is_batch(message.kind());
  if (is_detail && keep_last_.count() > 0 && message.obtained() != Obtained::simulated) {
    if (!waiting_)
      waiting_ = std::make_unique<SpoolWriter>(SpoolOptions{waiting_folder_.string(), keep_last_},
                                               message.envelope().session, 0);
    waiting_->append(message.bytes(), false);
  } else if (is_detail || !postpones(message.message())) {
    writer_->accept_encoded(message);
  }
}

void Recorder::tick() {
  const std::lock_guard lock(mutex_);
  if (writer_) writer_->tick();
  if (waiting_) waiting_->flush();
}

bool Recorder::postpones(const Message& message) {
  const auto* end = std::get_if<End>(&message.event);
  if (!waiting_ || !end || end->rank >= 0) return false;
  end_ = message;
  return true;
}

std::string Recorder::trouble() {
  const std::lock_guard lock(mutex_);
  if (!writer_) return {};
  return waiting_ && writer_->error().empty() ? waiting_->error() : writer_->error();
}

Recorder::Missing Recorder::close(std::int64_t forged) {
  const std::lock_guard lock(mutex_);
  Missing missing;
  if (!writer_) return missing;
  if (waiting_) {
    waiting_->flush();
    missing = {waiting_->messages_lost(), waiting_->error()};
    waiting_.reset();
    if (!spool_files(waiting_folder_.string()).empty()) read_spool(waiting_folder_.string(), *writer_);
    if (end_) writer_->accept(*end_);
  }
  writer_->count_forged(forged);
  if (!writer_->close()) missing.reason = writer_->error();
  missing.messages += writer_->lost_messages();
  if (missing.reason.empty() && missing.messages > 0)
    missing.reason = waiting_folder_.string() + ": did not take all detail";
  return missing;
}

}  // namespace rankscope
