// Marks in a recording: saved, changed, refused; the data are never at risk.
#include "telemetry/trace/marks.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/catch.hpp"
#include "tests/telemetry/trace/trace_files.hpp"

namespace rankscope::testing {
namespace {

const OpId marked_op = *parse_token("B:c2:m3:b5.qkv");

std::vector<TraceMark> two_marks() {
  return {{{1'000'000, 1'000'000}, Obtained::measured, {}, -1, {}, "here the loss jumps"},
          {{2'000'000, 2'500'000}, Obtained::emulated, 3, 2, marked_op, "waits for rank 1: “why?”\nsecond line"}};
}

std::vector<Message> messages_in(const std::string& path, DamageReport& damage) {
  Collected all;
  read_trace(path, all, {}, &damage);
  return all.messages;
}

}  // namespace

TEST_CASE("a mark is the same after it was written and read, whatever its text") {
  for (const TraceMark& mark : two_marks()) {
    const auto read = mark_of(metadata_of(mark));
    REQUIRE(read);
    CHECK(*read == mark);
  }
  mcap::Metadata changed = metadata_of(two_marks().front());
  changed.values.front().second = "here the loss falls";
  CHECK_FALSE(mark_of(changed));
}

TEST_CASE("marks are saved in a recording, changed and deleted; every byte of its data stays") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  write_trace(path, small_run());
  const std::string unmarked = contents(path);
  REQUIRE(read_trace_info(path).marks.empty());
  const auto marks = two_marks();
  save_marks(path, {}, marks);
  const TraceInfo info = read_trace_info(path);
  CHECK(info.marks == marks);
  CHECK_FALSE(info.damage.any());
  DamageReport damage;
  CHECK(messages_in(path, damage) == small_run());
  CHECK_FALSE(damage.any());

  auto changed = marks;
  changed[0].text = "another word";
  changed.push_back(marks[1]);
  save_marks(path, marks, changed);
  CHECK(read_trace_info(path).marks == changed);
  save_marks(path, changed, {});
  CHECK(contents(path) == unmarked);
}

TEST_CASE("marks survive the loss of the index, and a damaged one is noticed") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  write_trace(path, small_run());
  save_marks(path, {}, two_marks());
  const std::string whole = contents(path);
  put_contents(path, whole.substr(0, whole.size() - 40));
  const TraceInfo scanned = read_trace_info(path);
  CHECK(scanned.damage.index_missing);
  CHECK(scanned.marks == two_marks());
  recover_trace(path, folder / "whole.mcap");
  CHECK(read_trace_info(folder / "whole.mcap").marks == two_marks());
  CHECK_FALSE(read_trace_info(folder / "whole.mcap").damage.any());

  std::string flipped = whole;
  flipped[flipped.find("the loss jumps")] ^= 1;
  put_contents(path, flipped);
  const TraceInfo info = read_trace_info(path);
  CHECK(info.damage.head_damaged);
  CHECK(info.marks == std::vector{two_marks()[1]});
}

TEST_CASE("a recording that cannot store marks is refused with a reason, and is unchanged") {
  const TemporaryDirectory folder;
  const std::string path = folder / "run.mcap";
  write_trace(path, small_run());
  const std::string before = contents(path);
  const auto refusal = [&](const std::vector<TraceMark>& old, const std::vector<TraceMark>& marks) -> std::string {
    try {
      save_marks(path, old, marks);
    } catch (const TraceError& error) {
      return error.what();
    }
    return "saved";
  };
  SECTION("write-protected") {
    chmod(path.c_str(), 0444);
    CHECK(refusal({}, two_marks()).find("write-protected") != std::string::npos);
  }
  SECTION("cut short") {
    put_contents(path, before.substr(0, before.size() / 2));
    CHECK(refusal({}, two_marks()).find("rankscope-trace recover") != std::string::npos);
    CHECK(contents(path) == before.substr(0, before.size() / 2));
    return;
  }
  SECTION("changed by another program") {
    CHECK(refusal(two_marks(), {}).find("another program has changed its marks") != std::string::npos);
  }
  SECTION("too many, too long") {
    CHECK(refusal({}, std::vector<TraceMark>(most_marks + 1, two_marks()[0])).find("more than 500") !=
          std::string::npos);
    TraceMark long_one = two_marks()[0];
    long_one.text.assign(greatest_mark_bytes + 1, 'x');
    CHECK(refusal({}, {long_one}).find("more than 2000 bytes") != std::string::npos);
  }
  SECTION("the disk is full: the half-written copy is removed") {
    rlimit old{}, less{before.size() / 2, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    less.rlim_max = old.rlim_max;
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &less);
    const std::string words = refusal({}, two_marks());
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(words.find("cannot write") != std::string::npos);
  }
  SECTION("being recorded") {
    TraceWriter writer(folder / "other.mcap");
    writer.accept(small_run().front());
    writer.flush();
    CHECK_THROWS_AS(save_marks(folder / "other.mcap", {}, two_marks()), TraceError);
    CHECK(writer.close());
    CHECK(read_trace_info(folder / "other.mcap").marks.empty());
    std::filesystem::remove(folder / "other.mcap");
  }
  CHECK(contents(path) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace rankscope::testing
