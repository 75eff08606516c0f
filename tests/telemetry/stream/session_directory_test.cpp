// Directories of sessions: private, and removed after their owner's end by the next owner.
#include "telemetry/stream/session_directory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;
namespace fs = std::filesystem;

namespace {

/// During its lifetime, session directories are created under `path`.
class TemporaryBase {
 public:
  explicit TemporaryBase(const std::string& path) {
    setenv("TMPDIR", path.c_str(), 1);
    unsetenv("XDG_RUNTIME_DIR");
  }
  ~TemporaryBase() { unsetenv("TMPDIR"); }
};

/// The directory that remains when its owner is killed. `does` runs in the owner.
template <class Does>
fs::path left_by_killed_owner(const fs::path& base, Does does) {
  const fs::path path_file = base / "told";
  const pid_t owner = fork();
  REQUIRE(owner >= 0);
  if (owner == 0) {
    const SessionDirectory mine;
    does(mine.path());
    std::ofstream(path_file) << mine.path().string();
    kill(getpid(), SIGKILL);
  }
  waitpid(owner, nullptr, 0);
  std::ifstream in(path_file);
  std::string path;
  std::getline(in, path);
  REQUIRE(fs::is_directory(path));
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  return path;
}

}  // namespace

TEST_CASE("a session's directory is accessible only to its user and is removed with its owner") {
  const Directory base;
  const TemporaryBase temporary(base.path);
  fs::path path;
  {
    const SessionDirectory mine;
    path = mine.path();
    CHECK(path.parent_path().string() == base.path);
    CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
    const SessionDirectory another;  // the first one is old, but still in use
    CHECK(fs::exists(path));
  }
  CHECK(!fs::exists(path));
}

TEST_CASE("the directory of a killed owner is removed by the next one, with the shared memory that is listed there") {
  const Directory base;
  const TemporaryBase temporary(base.path);
  const fs::path memory = "/dev/shm/rankscope-test-" + std::to_string(getpid());
  const fs::path elsewhere = fs::path(base.path) / "precious";
  std::ofstream(elsewhere) << "mine";
  const fs::path left = left_by_killed_owner(base.path, [&](const fs::path& directory) {
    const int file = open(memory.c_str(), O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096) != 0 || mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED) _exit(1);
    note_shared_memory(directory);
    std::ofstream(directory / "shared-memory", std::ios::app) << elsewhere.string() << "\n/dev/shm/../etc/none\n";
  });
  CHECK(fs::exists(memory));
  { const SessionDirectory next; }
  CHECK(!fs::exists(left));
  CHECK(!fs::exists(memory));
  CHECK(fs::exists(elsewhere));  // only shared memory is removed
}

TEST_CASE("a directory without a lock is removed only if it is empty: its owner was killed before it had one") {
  const Directory base;
  const TemporaryBase temporary(base.path);
  const fs::path empty = fs::path(base.path) / "rankscope-nolock", used = fs::path(base.path) / "rankscope-thesis",
                 open_to_all = fs::path(base.path) / "rankscope-public";
  for (const fs::path& path : {empty, used, open_to_all}) {
    fs::create_directory(path);
    fs::permissions(path, path == open_to_all ? fs::perms::all : fs::perms::owner_all);
    if (path == used) std::ofstream(path / "chapter") << "mine";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  { const SessionDirectory next; }
  CHECK(!fs::exists(empty));
  CHECK(fs::exists(used / "chapter"));
  CHECK(fs::exists(open_to_all));
}

TEST_CASE("a directory that a rank still writes into while its owner removes it is removed by the next owner") {
  const Directory base;
  const TemporaryBase temporary(base.path);
  for (int i = 0; i < 50; ++i) {
    auto mine = std::make_unique<SessionDirectory>();
    const fs::path path = mine->path();
    std::atomic<int> files = 0;
    std::atomic<bool> is_removed = false;
    std::thread rank([&] {
      while (!is_removed && fs::exists(path)) std::ofstream(path / std::to_string(files++));
      ++files;
    });
    while (files < 3) std::this_thread::yield();
    mine.reset();
    is_removed = true;
    rank.join();
    if (!fs::exists(path)) continue;
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
    { const SessionDirectory next; }
    CHECK(!fs::exists(path));
  }
}
