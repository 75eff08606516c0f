#include "telemetry/stream/spool.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/telemetry/event/random_events.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

std::vector<Message> write_spool(const std::string& directory, int rank, int count) {
  RandomEvents random(7);
  SpoolWriter writer({directory, {}}, a_session(), rank);
  std::vector<Message> sent;
  for (int i = 0; i < count; ++i) {
    sent.push_back(random.message(i % RandomEvents::kinds));
    REQUIRE(writer.append(encode(sent.back()), is_reliable(sent.back().event)));
    if (i % 3 == 0) REQUIRE(writer.flush());
  }
  REQUIRE(writer.flush());
  return sent;
}

}  // namespace

TEST_CASE("a spool is read as it was written, from any frame on") {
  const Directory directory;
  const auto sent = write_spool(directory.path, 3, 100);
  Collector sink;
  const SpoolReport report = read_spool(spool_file(directory.path, 3, 0), sink);
  CHECK(report.torn == 0);
  CHECK(sink.messages() == sent);
}

TEST_CASE("a frame is found at the position that its writer reported") {
  const Directory directory;
  RandomEvents random(8);
  SpoolWriter writer({directory.path, {}}, a_session(), 0);
  std::vector<std::pair<SpoolPosition, std::vector<std::byte>>> written;
  for (int i = 0; i < 50; ++i) {
    const auto bytes = encode(random.message(i % RandomEvents::kinds));
    written.emplace_back(*writer.append(bytes, true), bytes);
    if (i % 7 == 0) writer.flush();
  }
  writer.flush();
  for (const auto& [position, bytes] : written) {
    SpoolReader reader(spool_file(directory.path, 0, position.segment), position.offset);
    std::vector<std::byte> payload;
    REQUIRE(reader.next(payload) == SpoolReader::Next::frame);
    REQUIRE(payload == bytes);
  }
}

TEST_CASE("a spool that was cut anywhere opens up to the cut") {
  const Directory directory;
  const auto sent = write_spool(directory.path, 0, 12);
  const std::string path = spool_file(directory.path, 0, 0);
  const auto size = std::filesystem::file_size(path);
  std::size_t before = sent.size();
  for (auto cut = size - 1; cut > 40; cut -= cut > 600 ? 97 : 13) {
    std::filesystem::resize_file(path, cut);
    Collector sink;
    const SpoolReport report = read_spool(path, sink);
    const auto got = sink.messages();
    REQUIRE(got.size() <= before);
    REQUIRE(std::equal(got.begin(), got.end(), sent.begin()));
    before = got.size();
    if (report.torn) REQUIRE(report.notes.size() == 1);
  }
  CHECK(before < 3);
}

TEST_CASE("a flipped bit in a spool is detected, and everything before it is kept") {
  const Directory directory;
  const auto sent = write_spool(directory.path, 0, 30);
  const std::string path = spool_file(directory.path, 0, 0);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get());
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 4));
  file.close();
  Collector sink;
  const SpoolReport report = read_spool(path, sink);
  CHECK(report.torn == 1);
  const auto got = sink.messages();
  CHECK(!got.empty());
  CHECK(got.size() < sent.size());
  CHECK(std::equal(got.begin(), got.end(), sent.begin()));
}

TEST_CASE("a reader follows a spool that grows") {
  const Directory directory;
  SpoolWriter writer({directory.path, {}}, a_session(), 0);
  SpoolReader reader(spool_file(directory.path, 0, 0));
  std::vector<std::byte> payload;
  CHECK(reader.next(payload) == SpoolReader::Next::absent);
  RandomEvents random(9);
  for (int i = 0; i < 20; ++i) {
    const auto bytes = encode(random.message(5));
    writer.append(bytes, false);
    CHECK(reader.next(payload) != SpoolReader::Next::frame);
    writer.flush();
    REQUIRE(reader.next(payload) == SpoolReader::Next::frame);
    CHECK(payload == bytes);
    CHECK(reader.next(payload) == SpoolReader::Next::end);
  }
  CHECK(reader.session() == a_session());
}

TEST_CASE("a full disk loses messages, which are counted and reported, and the rest continues") {
  const Directory directory;
  // /dev/full accepts no bytes: every write to it fails with "no space left on device".
  std::filesystem::create_symlink("/dev/full", spool_file(directory.path, 0, 0));
  SpoolWriter writer({directory.path, {}}, a_session(), 0);
  const std::vector<std::byte> bytes(100);
  CHECK(writer.append(bytes, true));
  CHECK_FALSE(writer.flush());
  CHECK(writer.messages_lost() == 1);
  CHECK(writer.error().find("No space left") != std::string::npos);
  CHECK_FALSE(writer.append(bytes, true));  // it does not try again immediately
  CHECK(writer.messages_lost() == 2);
}

TEST_CASE("a limit on detail's age deletes old detail and never control") {
  const Directory directory;
  RandomEvents random(10);
  constexpr std::chrono::milliseconds limit(80);
  SpoolWriter writer({directory.path, limit}, a_session(), 0);
  std::vector<Message> details, controls;
  std::vector<std::chrono::steady_clock::time_point> times;
  const auto begin = std::chrono::steady_clock::now();
  while (times.empty() || times.back() - begin < std::chrono::milliseconds(500)) {
    details.push_back(random.message(5));
    controls.push_back(random.message(1));
    times.push_back(std::chrono::steady_clock::now());
    writer.append(encode(controls.back()), true);
    writer.append(encode(details.back()), false);
    writer.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto end = std::chrono::steady_clock::now();
  Collector sink;
  read_spool(directory.path, sink);
  CHECK(sink.all<ProgramRecord>().size() == controls.size());
  const auto kept = sink.all<SpanBatch>();
  CHECK(kept.size() < details.size());
  // At least the last 80 ms: the newest ones, without a gap.
  const auto new_enough = std::count_if(times.begin(), times.end(), [&](auto time) { return end - time <= limit; });
  REQUIRE(static_cast<std::ptrdiff_t>(kept.size()) >= new_enough);
  for (std::size_t i = 0; i < kept.size(); ++i)
    REQUIRE(kept[i] == std::get<SpanBatch>(details[details.size() - kept.size() + i].event));
}
