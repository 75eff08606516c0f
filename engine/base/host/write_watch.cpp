#include "engine/base/host/write_watch.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>

namespace rankscope {

WriteWatch::WriteWatch(std::ostream& stream) : stream_(stream), to_(stream.rdbuf()) { stream_.rdbuf(this); }

WriteWatch::~WriteWatch() {
  const auto state = stream_.rdstate();
  stream_.rdbuf(to_);  // clears the state
  stream_.setstate(state);
}

std::string WriteWatch::failure() {
  stream_.flush();
  if (!failed_ && stream_) return "";
  return reason_ != 0 ? std::strerror(reason_) : "writing failed";
}

bool WriteWatch::is_unread() const { return reason_ == EPIPE; }

WriteWatch::int_type WriteWatch::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  errno = 0;
  const int_type written = to_->sputc(traits_type::to_char_type(c));
  if (traits_type::eq_int_type(written, traits_type::eof())) keep_reason();
  return written;
}

std::streamsize WriteWatch::xsputn(const char* text, std::streamsize count) {
  errno = 0;
  const std::streamsize written = to_->sputn(text, count);
  if (written < count) keep_reason();
  return written;
}

int WriteWatch::sync() {
  errno = 0;
  const int result = to_->pubsync();
  if (result != 0) keep_reason();
  return result;
}

void WriteWatch::keep_reason() {
  if (!failed_) reason_ = errno;
  failed_ = true;
}

int status_with_output(int status, WriteWatch& standard_output, std::string_view program) {
  const std::string failure = standard_output.failure();
  if (failure.empty() || standard_output.is_unread()) return status;
  std::cerr << program << ": standard output: " << failure << std::endl;
  return status == 0 ? 1 : status;
}

}  // namespace rankscope
