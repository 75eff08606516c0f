#include "engine/worker/step_marks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

namespace rankscope {
namespace {

constexpr const char* file_name = "steps";

std::size_t bytes_of(int ranks) { return 2 * static_cast<std::size_t>(ranks) * sizeof(std::int64_t); }

std::vector<std::int64_t> read_all(const std::filesystem::path& session_directory, int ranks) {
  std::vector<std::int64_t> marks(2 * static_cast<std::size_t>(ranks), 0);
  std::ifstream file(session_directory / file_name, std::ios::binary);
  file.read(reinterpret_cast<char*>(marks.data()), static_cast<std::streamsize>(bytes_of(ranks)));
  return marks;
}

}  // namespace

StepMarks::StepMarks(const std::filesystem::path& session_directory, int ranks) : ranks_(ranks) {
  const int file = open((session_directory / file_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  // All pages are allocated at the start, so that a full disk does not end a step.
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes_of(ranks))) == 0) {
    void* data = mmap(nullptr, bytes_of(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data != MAP_FAILED) steps_ = static_cast<std::int64_t*>(data);
  }
  close(file);
}

StepMarks::~StepMarks() {
  if (steps_ != nullptr) munmap(steps_, bytes_of(ranks_));
}

void StepMarks::finished(int rank, std::uint32_t step) {
  if (steps_ != nullptr && rank < ranks_)
    std::atomic_ref(steps_[rank]).store(std::int64_t{step} + 1, std::memory_order_relaxed);
}

void StepMarks::dismissed(int rank) {
  if (steps_ != nullptr && rank < ranks_) std::atomic_ref(steps_[ranks_ + rank]).store(1, std::memory_order_relaxed);
}

std::vector<int> read_not_dismissed(const std::filesystem::path& session_directory, int ranks) {
  const std::vector<std::int64_t> marks = read_all(session_directory, ranks);
  std::vector<int> others;
  for (int rank = 0; rank < ranks; ++rank)
    if (marks[ranks + rank] == 0) others.push_back(rank);
  return others;
}

std::vector<std::int64_t> read_step_marks(const std::filesystem::path& session_directory, int ranks) {
  std::vector<std::int64_t> steps = read_all(session_directory, ranks);
  steps.resize(ranks);
  for (std::int64_t& step : steps) --step;
  return steps;
}

}  // namespace rankscope
