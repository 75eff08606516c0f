#include "telemetry/relay/revoked_keys.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "telemetry/stream/join.hpp"
#include "telemetry/stream/z85.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t longest_list = 1 << 20;  // bytes

// The complete list, if this user owns it and its size is plausible.
std::optional<std::string> read_list(const std::string& path, std::int64_t known_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  struct stat info {};
  std::optional<std::string> text;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_size != known_bytes &&
      info.st_size <= longest_list) {
    text.emplace(static_cast<std::size_t>(info.st_size), '\0');
    const ssize_t got = read(file, text->data(), text->size());
    text->resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

// Searches lines NAME, tab, KEY.
std::string key_of_name(const std::string& join_file, const std::string& name) {
  std::ifstream list(names_list(join_file));
  std::string names;
  for (std::string line; std::getline(list, line);) {
    const auto tab = line.rfind('\t');
    if (tab == std::string::npos) continue;
    if (line.substr(0, tab) == name) return line.substr(tab + 1);
    names += (names.empty() ? "" : ", ") + line.substr(0, tab);
  }
  throw JoinError("'" + name + "' is no key, and no name that " + names_list(join_file) +
                  " has; names: " + (names.empty() ? "none" : names));
}

}  // namespace

std::string revoked_list(const std::string& join_file) { return join_file + ".revoked"; }
std::string names_list(const std::string& join_file) { return join_file + ".names"; }

RevokedKeys::RevokedKeys(std::vector<std::string> join_files) {
  for (const std::string& file : join_files) {
    lists_.emplace_back(revoked_list(file), 0);
    unlink(lists_.back().first.c_str());
  }
}

bool RevokedKeys::poll() {
  const std::size_t before = keys_.size();
  for (auto& [path, bytes] : lists_) {
    const auto text = read_list(path, bytes);
    if (!text) continue;
    bytes = static_cast<std::int64_t>(text->size());
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
      if (is_z85_key(line)) keys_.insert(line);
  }
  return keys_.size() > before;
}

std::string revoke_key(const std::string& join_file, const std::string& name_or_key) {
  const Join join = read_join_file(join_file);
  std::string key = name_or_key;
  if (key.empty()) {
    key = join.keys.public_key;
    if (key.empty()) throw JoinError(join_file + ": contains no key to revoke");
  } else if (!is_z85_key(key)) {
    key = key_of_name(join_file, name_or_key);
  }
  const std::string list = revoked_list(join_file), line = key + "\n";
  const int file = open(list.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string why = std::strerror(errno);
  if (file >= 0) close(file);
  if (!written) throw JoinError(list + ": cannot be written: " + why);
  return key;
}

}  // namespace rankscope
