#include "engine/worker/signal_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace rankscope {
namespace {

// A signal handler can access only globals.
std::atomic<int> write_end = -1;
static_assert(std::atomic<int>::is_always_lock_free);

void pass_on(int number) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const ssize_t written = write(write_end, &byte, 1);
  errno = before;
}

}  // namespace

SignalPipe::SignalPipe(std::initializer_list<int> signals) : signals_(signals) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  read_end_ = ends[0];
  write_end = ends[1];
  struct sigaction action {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (const int number : signals_) sigaction(number, &action, nullptr);
}

SignalPipe::~SignalPipe() {
  for (const int number : signals_) signal(number, SIG_DFL);
  close(write_end.exchange(-1));
  close(read_end_);
}

std::optional<int> SignalPipe::wait(std::chrono::milliseconds limit) const {
  pollfd waiting{read_end_, POLLIN, 0};
  unsigned char number = 0;
  if (poll(&waiting, 1, static_cast<int>(limit.count())) != 1 || read(read_end_, &number, 1) != 1) return std::nullopt;
  return number;
}

}  // namespace rankscope
