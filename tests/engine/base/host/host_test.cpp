#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/file_lock.hpp"
#include "engine/base/host/memory.hpp"
#include "engine/base/host/threads.hpp"
#include "engine/base/host/write_watch.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;

TEST_CASE("an excerpt keeps both ends of a long value and says how long it is") {
  CHECK(excerpt("short") == "short");
  CHECK(excerpt(std::string(80, 'a')) == std::string(80, 'a'));
  const std::string text = excerpt("begin" + std::string(3000, 'a') + "end");
  CHECK(text.substr(0, 5) == "begin");
  CHECK(text.find("end (3008 characters)") != std::string::npos);
  CHECK(text.size() < 110);
  CHECK(excerpt("two\nlines\x07") == "two lines ");
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  for (std::size_t most = 20; most < 40; ++most) {
    const std::string cut = excerpt(umlauts, most);
    const std::size_t middle = cut.find("…");
    REQUIRE(middle != std::string::npos);
    CHECK(middle % 2 == 0);
  }
}

TEST_CASE("printable text has no control characters and only complete UTF-8") {
  CHECK(printable("a\nb\x1b[31mred\x7f") == "a b [31mred ");
  CHECK(printable("\xc3\xa4 … \xf0\x9f\x98\x80") == "\xc3\xa4 … \xf0\x9f\x98\x80");
  CHECK(printable("\xff \xc3") == "? ?");
  CHECK(printable("\xe2\x82 \xc0\x80") == "?? ??");
  CHECK(printable("\xc2\x9b[31m") == " [31m");
}

TEST_CASE("of a JSON parser's message the place is kept, without the text that it quotes") {
  CHECK(json_fault("[json.exception.parse_error.101] parse error at line 5, column 1936: syntax error while parsing "
                   "value - invalid string; last read: '\"title…'") == "line 5, column 1936");
  CHECK(json_fault("[json.exception.out_of_range.403] key 'ranks' not found") == "key 'ranks' not found");
  CHECK(json_fault(std::string(3000, 'x')).size() < 250);
}

TEST_CASE("a message is one line of bounded length, and apostrophes are no quotes") {
  CHECK(message_line("a file's name is 'x.toml'; it isn't there") == "a file's name is 'x.toml'; it isn't there");
  const std::string much(3000, 'y');
  const std::string line = message_line("unknown schedule '" + much + "'; the plan's known: gpipe");
  CHECK(line.find("unknown schedule 'yyy") == 0);
  CHECK(line.find("(3000 characters)'; the plan's known: gpipe") != std::string::npos);
  CHECK(line.size() < 200);
  CHECK(message_line("--keep: " + much + " is wrong").size() < 300);
  std::string words;
  while (words.size() < 5000) words += "word ";
  CHECK(message_line(words).size() < 1300);
  CHECK(message_line("an open quote '" + much).size() < 300);
}

TEST_CASE("only one process can lock a file, and the lock is free when the holder has ended") {
  const std::string path = (std::filesystem::temp_directory_path() / ("lock-" + std::to_string(getpid()))).string();
  std::string trouble;
  {
    const FileLock held = FileLock::take(path, trouble);
    CHECK(held.is_held());
    CHECK(trouble.empty());
    const FileLock second = FileLock::take(path, trouble);
    CHECK(!second.is_held());
    CHECK(trouble.find("process " + std::to_string(getpid()) + " on ") == 0);
    CHECK(trouble.find(" has it") != std::string::npos);
  }
  CHECK(FileLock::take(path, trouble).is_held());
  CHECK(trouble.empty());
  std::filesystem::remove(path);
  CHECK(!FileLock::take("/nonexistent/lock", trouble).is_held());
  CHECK(trouble.find("/nonexistent/lock: No such file") == 0);
}

TEST_CASE("the holder of a lock is named without its folder, in whose name spaces may be") {
  const testing::TemporaryDirectory folder;
  const std::string path = folder / "locked", program = folder / "a b/holder";
  std::filesystem::create_directory(folder / "a b");
  std::filesystem::copy_file("/usr/bin/flock", program);
  const pid_t holder = fork();
  if (holder == 0) {
    setpgid(0, 0);
    execl(program.c_str(), program.c_str(), path.c_str(), "sleep", "100", nullptr);
    _exit(127);
  }
  std::string trouble;
  CHECK(test::wait_until(std::chrono::seconds(60), [&] { return !FileLock::take(path, trouble).is_held(); }));
  CHECK(trouble.find("(holder " + path + " sleep 100)") != std::string::npos);
  kill(-holder, SIGKILL);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
}

TEST_CASE("available memory is more than nothing and says what limits it") {
  const AvailableMemory available = available_memory();
  CHECK(available.bytes > 0);
  CHECK(!available.limited_by.empty());
}

TEST_CASE("threads that can be made are made, and helpers may be fewer") {
  CHECK_NOTHROW(check_threads(20, "a test"));
  std::atomic<int> count = 0;
  {
    const auto helpers = start_helpers(3, [&] { ++count; });
    CHECK(helpers.size() == 3);
  }
  CHECK(count == 3);
}

TEST_CASE("a watched stream says why not all was written, also when a later part would fit") {
  std::ofstream full("/dev/full");
  REQUIRE(full);
  {
    WriteWatch watch(full);
    CHECK(watch.failure().empty());
    full << std::string(100'000, 'x');
    errno = 0;
    full << "more";
    CHECK(watch.failure() == "No space left on device");
    CHECK(!watch.is_unread());
  }
  CHECK(!full);
  std::ostringstream text;
  {
    WriteWatch watch(text);
    text << 'a' << "bc" << std::flush << 12;
    CHECK(watch.failure().empty());
  }
  text << "d";
  CHECK(text.str() == "abc12d");
}
