#include "telemetry/trace/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "telemetry/trace/trace_error.hpp"

namespace rankscope {
namespace {

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// A link is replaced by its target, so that the link itself is kept.
std::string resolved(const std::string& path) {
  std::error_code none;
  const auto target = std::filesystem::canonical(path, none);
  return none ? path : target.string();
}

mode_t mode_for(const std::string& target) {
  if (const auto old = status_of(target)) return old->st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void check_output(const std::string& output, const std::vector<std::string>& inputs) {
  const auto status = status_of(output);
  if (!status) return;
  if (S_ISDIR(status->st_mode)) throw TraceError(output + ": is a folder; name a file to write");
  if (S_ISSOCK(status->st_mode) || S_ISBLK(status->st_mode))
    throw TraceError(output + ": is no ordinary file; name another one");
  for (const std::string& input : inputs)
    if (const auto other = status_of(input);
        other && other->st_dev == status->st_dev && other->st_ino == status->st_ino && S_ISREG(other->st_mode))
      throw TraceError(output + ": is the input " + (input == output ? "itself" : input) + "; name another file");
}

OutputFile::OutputFile(const std::string& output, const std::vector<std::string>& inputs) : output_(output) {
  check_output(output, inputs);
  target_ = resolved(output);
  if (const auto status = status_of(target_); status && !S_ISREG(status->st_mode)) return;
  std::string name = target_ + ".XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) throw TraceError(output + ": cannot be written: " + std::strerror(errno));
  fchmod(file, mode_for(target_));
  close(file);
  beside_ = std::move(name);
}

OutputFile::~OutputFile() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

void OutputFile::commit() {
  if (beside_.empty()) return;
  if (rename(beside_.c_str(), target_.c_str()) != 0)
    throw std::runtime_error(output_ + ": cannot be written: " + std::strerror(errno));
  beside_.clear();
}

}  // namespace rankscope
