#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "telemetry/store/run_store.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/telemetry/trace/trace_files.hpp"

namespace rankscope::testing {
namespace {

struct Run {
  int status = -1;
  std::string output, errors;
};
Run run(const TemporaryDirectory& folder, const std::string& arguments) {
  const std::string errors = folder / "errors";
  const std::string command = "'" + test::program("rankscope-trace") + "' " + arguments + " 2>" + errors;
  Run result;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.errors = contents(errors);
  return result;
}
std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST_CASE("bad input is one line on standard error and exit status 2") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap", text = folder / "text.mcap", none = folder / "none.mcap";
  write_trace(trace, small_run());
  put_contents(text, "no trace at all, whatever the name says");
  for (const std::string& arguments :
       {"info " + none, "info " + text, "stats " + trace, "export " + none, "export " + trace + " --as html",
        "recover " + text + " -o " + (folder / "o"), "cut " + trace + " -o " + (folder / "o"),
        "cut " + trace + " --steps 5:2 -o " + (folder / "o"), "cut " + trace + " --from x -o " + (folder / "o"),
        "replay " + trace + " --speed fast", "replay " + trace + " --wait -1", "replay " + trace + " --wait x",
        "replay " + none, "replay " + trace + " --publish tcp://0.0.0.0:5555", "export " + trace + " --format pdf",
        std::string("polish"), std::string()}) {
    const Run result = run(folder, arguments);
    CAPTURE(arguments, result.errors);
    CHECK(result.status == 2);
    CHECK(result.output.empty());
    CHECK(lines(result.errors) == 1);
    CHECK(result.errors.size() < 300);
  }
}

TEST_CASE("info gives a run's time on one clock, also where the hosts' clocks are hours apart") {
  const TemporaryDirectory folder;
  constexpr std::int64_t apart_ns = 10'000'000'000'000;
  // The same run twice; in the second, rank 1's host has a clock that is hours ahead, with a fit.
  std::vector<Message> messages = small_run();
  std::erase_if(messages, [](const Message& m) { return std::holds_alternative<ClockRecord>(m.event); });
  write_trace(folder / "one.mcap", messages);
  for (Message& m : messages) {
    if (m.rank != 1) continue;
    if (auto* spans = std::get_if<SpanBatch>(&m.event); spans && spans->obtained == Obtained::measured)
      for (Span& span : spans->rows) span.begin_ns += apart_ns, span.active_ns += apart_ns, span.end_ns += apart_ns;
    if (auto* summary = std::get_if<StepSummary>(&m.event)) summary->begin_ns += apart_ns, summary->end_ns += apart_ns;
  }
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    Message clock = messages.back();
    clock.rank = rank;
    clock.sequence += 1000;
    clock.event = ClockRecord{rank, rank == 1 ? apart_ns : 0, rank == 1 ? -apart_ns : 0, 20'000};
    messages.push_back(clock);
  }
  write_trace(folder / "two.mcap", messages);
  const auto times = [&](const std::string& trace) {
    const auto info = nlohmann::json::parse(run(folder, "info --json " + trace).output);
    return std::pair(info["first_ns"].get<double>(), info["last_ns"].get<double>());
  };
  const auto [first, last] = times(folder / "two.mcap");
  CHECK(first == times(folder / "one.mcap").first);
  CHECK(last < 1e-3 * apart_ns);
  CHECK(last >= times(folder / "one.mcap").second);
}

TEST_CASE("info prints one JSON object when asked") {
  const TemporaryDirectory folder;
  write_trace(folder / "run.mcap", small_run());
  const Run result = run(folder, "info --json " + (folder / "run.mcap"));
  REQUIRE(result.status == 0);
  const auto info = nlohmann::json::parse(result.output);
  CHECK(info["run"]["title"] == "invented");
  CHECK(info["damage"]["any"] == false);
  CHECK(info["messages"].get<int>() > 60);
}

TEST_CASE("recover, cut and export process a damaged recording, and name the damage") {
  const TemporaryDirectory folder;
  const std::string damaged = folder / "damaged.mcap", whole = folder / "whole.mcap", part = folder / "part.mcap";
  write_trace(damaged, small_run(4000));
  std::string bytes = contents(damaged);
  bytes.resize(bytes.size() * 2 / 3);
  put_contents(damaged, bytes);
  const Run recovered = run(folder, "recover " + damaged + " -o " + whole);
  CHECK(recovered.status == 0);
  CHECK(recovered.errors.find("the file ends within") != std::string::npos);
  CHECK_FALSE(read_trace_info(whole).damage.any());
  CHECK(run(folder, "cut " + whole + " --steps 1: -o " + part).status == 0);
  CHECK(read_trace_info(part).messages < read_trace_info(whole).messages);
  const Run csv = run(folder, "export " + part + " --format csv");
  CHECK(csv.status == 0);
  CHECK(lines(csv.output) > 100);
  const Run chrome = run(folder, "export " + damaged + " -o " + (folder / "run.json"));
  CHECK(chrome.status == 0);
  CHECK(chrome.output.empty());
  CHECK(nlohmann::json::parse(contents(folder / "run.json"))["traceEvents"].size() > 100);
}

TEST_CASE("info lists the marks, cut keeps those of its part, and recover all") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap", part = folder / "part.mcap";
  write_trace(trace, small_run());
  const OpId op = *parse_token("F:c0:m1");
  const std::vector<TraceMark> marks{{{100, 200}, Obtained::measured, 1, 0, op, "first"},
                                     {{9'000'000'000, 9'000'000'000}, Obtained::measured, 3, -1, {}, "late\x1b[31m"},
                                     {{300, 300}, Obtained::measured, {}, -1, {}, "in no step"}};
  save_marks(trace, {}, marks);
  const auto info = nlohmann::json::parse(run(folder, "info --json " + trace).output);
  REQUIRE(info["marks"].size() == 3);
  CHECK(info["marks"][0]["text"] == "first");
  CHECK(info["marks"][0]["op"] == "F:c0:m1");
  CHECK(info["marks"][1]["rank"].is_null());
  const std::string words = run(folder, "info " + trace).output;
  CHECK(words.find("step 1, F:c0:m1 on rank 0: first") != std::string::npos);
  CHECK(words.find('\x1b') == std::string::npos);
  REQUIRE(run(folder, "cut " + trace + " --steps 1:2 -o " + part).status == 0);
  CHECK(read_trace_info(part).marks == std::vector{marks[0]});
  REQUIRE(run(folder, "cut " + trace + " --to 5 -o " + part).status == 0);
  CHECK(read_trace_info(part).marks == std::vector{marks[0], marks[2]});
  REQUIRE(run(folder, "recover " + trace + " -o " + part).status == 0);
  CHECK(read_trace_info(part).marks == marks);
}

TEST_CASE("a cut of steps that do not exist is refused with those that do, and writes nothing") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap", part = folder / "part.mcap";
  write_trace(trace, small_run());
  RunStore store;
  read_trace(trace, store);
  const auto steps = store.view()->steps(Obtained::measured);
  for (const std::string limits : {"--steps 1000:2000", "--steps 1000:", "--from 1000 --to 2000"}) {
    const Run result = run(folder, "cut " + trace + " " + limits + " -o " + part);
    CAPTURE(limits, result.errors);
    CHECK(result.status == 2);
    CHECK(lines(result.errors) == 1);
    CHECK(result.errors.find(limits) != std::string::npos);
    CHECK(result.errors.find("its steps are " + std::to_string(steps.front()) + " to " +
                             std::to_string(steps.back())) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(part));
  }
}

TEST_CASE("a file in which no message is complete cannot be recovered, and no recording is written") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap", head = folder / "head.mcap", whole = folder / "whole.mcap";
  write_trace(trace, small_run());
  put_contents(head, contents(trace).substr(0, 8));
  const Run result = run(folder, "recover " + head + " -o " + whole);
  CAPTURE(result.errors);
  CHECK(result.status == 1);
  CHECK(result.output.empty());
  CHECK(result.errors.find("head.mcap: nothing could be recovered: ") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(whole));
}

TEST_CASE("control characters of a run's title reach no terminal") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap";
  std::vector<Message> messages = small_run();
  for (Message& m : messages)
    if (auto* hello = std::get_if<Hello>(&m.event)) hello->title = "a\nb\x1b[31mred\xc2\x9b\xff";
  write_trace(trace, messages);
  const Run words = run(folder, "info " + trace);
  CHECK(words.output.find("title        a b [31mred ?\n") != std::string::npos);
  const auto json = nlohmann::json::parse(run(folder, "info --json " + trace).output);
  CHECK(json["run"]["title"].get<std::string>().find("a\nb\x1b[31mred") == 0);
}

TEST_CASE("an output that is the input is refused, under any name, and the input is unchanged") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap", link = folder / "link.mcap", hard = folder / "hard.mcap";
  write_trace(trace, small_run());
  std::filesystem::create_symlink(trace, link);
  std::filesystem::create_hard_link(trace, hard);
  const std::string before = contents(trace);
  for (const std::string& output : {trace, link, hard, (folder / ".") + "/run.mcap"})
    for (const std::string& command : {"export " + trace, "recover " + trace, "cut " + trace + " --steps 1:"}) {
      const Run result = run(folder, command + " -o " + output);
      CAPTURE(command, output, result.errors);
      CHECK(result.status == 2);
      CHECK(lines(result.errors) == 1);
      CHECK(result.errors.find("is the input") != std::string::npos);
      REQUIRE(contents(trace) == before);
    }
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("devices, pipes and folders are written directly or refused, never replaced") {
  const TemporaryDirectory folder;
  const std::string trace = folder / "run.mcap", pipe = folder / "pipe", device = folder / "device";
  write_trace(trace, small_run());
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/full", device);
  for (const std::string& command : {"export " + trace, "recover " + trace, "cut " + trace + " --steps 1:"}) {
    CAPTURE(command);
    CHECK(run(folder, command + " -o " + device).status != 0);
    CHECK(run(folder, command + " -o " + folder.path().string()).status == 2);
    CHECK(std::filesystem::is_symlink(device));
    CHECK(std::filesystem::is_character_file("/dev/full"));
  }
  // A recording in a pipe cannot be read again. No process reads this pipe, and nothing may wait for that.
  for (const std::string& command : {"recover " + trace, "cut " + trace + " --steps 1:"}) {
    const Run result = run(folder, command + " -o " + pipe);
    CAPTURE(command, result.errors);
    CHECK(result.status == 2);
    CHECK(result.errors.find("is a pipe") != std::string::npos);
  }
  CHECK(std::filesystem::is_fifo(pipe));
  // An existing file of that name keeps its permissions, and other files in the folder are not changed.
  put_contents(folder / "old.json", "old");
  REQUIRE(chmod((folder / "old.json").c_str(), 0640) == 0);
  CHECK(run(folder, "export " + trace + " -o " + (folder / "old.json")).status == 0);
  CHECK((std::filesystem::status(folder / "old.json").permissions() & std::filesystem::perms::mask) ==
        static_cast<std::filesystem::perms>(0640));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    CHECK((name == "run.mcap" || name == "pipe" || name == "device" || name == "old.json" || name == "errors"));
  }
}

TEST_CASE("revoke says what it has done, and what it cannot do in one line") {
  const TemporaryDirectory folder;
  CHECK(run(folder, "revoke " + (folder / "none.join")).status == 2);
  put_contents(folder / "open.join", "rankscope://tcp/127.0.0.1:7447\n");
  const Run open = run(folder, "revoke " + (folder / "open.join"));
  CHECK(open.status == 2);
  CHECK(lines(open.errors) == 1);
  for (const std::string& content : {std::string("title = \"mine\"\n"), std::string("\x89MCAP0\r\n\x01\xff\x00", 12),
                                     std::string(100'000, 'x'), std::string()}) {
    put_contents(folder / "other", content);
    const Run other = run(folder, "revoke " + (folder / "other"));
    CHECK(other.status == 2);
    CHECK(other.errors ==
          "rankscope-trace: " + (folder / "other") + " is not a join file; give the file from --join-file\n");
  }
  CHECK(run(folder, "--help").output.find("revoke") != std::string::npos);
}

}  // namespace
}  // namespace rankscope::testing
