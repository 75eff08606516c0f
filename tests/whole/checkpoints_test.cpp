// Runs that continue from checkpoints, as a user would start them.
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

using Arguments = std::vector<std::string>;

std::string scenario() {
  return "[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n"
         "[plan]\ndata = 2\npipeline = 2\nmicro_batches = 4\nzero = 1\n"
         "[train]\nglobal_batch = 8\nsteps = 9\ncheckpoint_every = 2\n";
}

Ended run(const Folder& folder, const Arguments& more) {
  Arguments command{program("rankscope-engine"), "run", (folder / "s.toml").string(), "--json"};
  command.insert(command.end(), more.begin(), more.end());
  return Process(folder, command).wait(a_minute);
}

/// Losses by step.
std::vector<std::pair<int, double>> losses(const Ended& ended) {
  INFO(ended.err);
  std::vector<std::pair<int, double>> rows;
  const json report = parse_json(ended.out);
  for (const json& step : report.at("steps")) rows.emplace_back(step.at("step"), step.at("loss"));
  return rows;
}

std::filesystem::path checkpoint(const Folder& folder, const std::string& name, int steps) {
  return folder / name / ("step-0000000" + std::to_string(steps));
}

void write_to(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

/// The manifest of a run in that folder, of a checkpoint after its second step.
std::filesystem::path manifest_after_two_steps(const Folder& folder) {
  folder.file("s.toml", scenario());
  REQUIRE(run(folder, {"--checkpoint", "a", "--steps", "2"}).status == 0);
  return checkpoint(folder, "a", 2) / "manifest.json";
}

void flip_last_byte(const std::filesystem::path& file) {
  std::string content = content_of(file);
  content.back() = static_cast<char>(content.back() ^ 1);
  write_to(file, content);
}

/// Exchanges the offsets of two tensors of one shape, so that the header has the same length and is valid.
void exchange_two_tensors(const std::filesystem::path& file) {
  std::string content = content_of(file);
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), sizeof length);
  nlohmann::ordered_json header = nlohmann::ordered_json::parse(content.substr(8, length));
  for (auto& [name, one] : header.items())
    for (auto& [other_name, other] : header.items()) {
      if (name == "__metadata__" || other_name == "__metadata__" || name == other_name) continue;
      if (one["shape"] != other["shape"] || one["dtype"] != other["dtype"]) continue;
      std::swap(one["data_offsets"], other["data_offsets"]);
      std::string text = header.dump();
      REQUIRE(text.size() <= length);
      text.resize(length, ' ');
      write_to(file, content.replace(8, length, text));
      return;
    }
  FAIL("no two tensors of one shape");
}

}  // namespace

TEST_CASE("a run that loses a rank continues by itself from the last checkpoint, with the same losses") {
  const auto* communicator = GENERATE("loopback", "mpi");
  if (std::string(communicator) == "mpi" && !can_use_mpi()) return;
  const Folder folder;
  folder.file("s.toml", scenario());
  const auto straight = losses(run(folder, {"--checkpoint", "a", "--comm", communicator}));
  REQUIRE(straight.size() == 9);
  const Ended ended = run(folder, {"--checkpoint", "b", "--restarts", "1", "--comm", communicator, "--record", "t.mcap",
                                   "--set", "fault.kill_rank=3", "--set", "fault.kill_step=5"});
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.err.find("rank 3") != std::string::npos);
  CHECK(ended.err.find("continuing from") != std::string::npos);
  // Which one was complete when the rank died depends on the moment: after 2 or after 4 steps.
  const auto resumed = losses(ended);
  REQUIRE(!resumed.empty());
  CHECK((resumed.front().first == 2 || resumed.front().first == 4));
  CHECK(resumed.back().first == 8);
  for (const auto& row : resumed)
    CHECK(row.second == Approx(straight[static_cast<std::size_t>(row.first)].second).epsilon(1e-6));
  CHECK(std::filesystem::exists(folder / "t.mcap"));
  CHECK(std::filesystem::exists(folder / "t.2.mcap"));
  CHECK(folder.processes_after(a_minute).empty());
  CHECK(folder.sessions().empty());
}

TEST_CASE("a run continues under another plan, and for more steps than planned") {
  const Folder folder;
  folder.file("s.toml", scenario());
  const auto straight = losses(run(folder, {"--checkpoint", "a", "--steps", "12"}));
  REQUIRE(run(folder, {"--checkpoint", "b", "--steps", "6"}).status == 0);
  const auto resumed =
      losses(run(folder, {"--resume", "b", "--checkpoint-every", "0", "--steps", "12", "--set", "plan.data=1", "--set",
                          "plan.zero=0", "--set", "plan.pipeline=4", "--set", "plan.micro_batches=8"}));
  REQUIRE(resumed.size() == 6);
  for (const auto& [step, loss] : resumed)
    CHECK(loss == Approx(straight[static_cast<std::size_t>(step)].second).epsilon(1e-5));
}

TEST_CASE("a job script can be queued again and again: --resume of a folder without a checkpoint yet begins afresh") {
  const Folder folder;
  folder.file("s.toml", scenario());
  std::filesystem::create_directories(folder / "empty");
  for (const std::string name : {"new", "empty"}) {
    INFO(name);
    const Ended first = run(folder, {"--resume", name, "--checkpoint", name, "--steps", "4"});
    INFO(first.err);
    CHECK(first.status == 0);
    CHECK(first.err.find("--resume " + name + ": there is no checkpoint yet, so training begins at step 0") !=
          std::string::npos);
    const Ended second = run(folder, {"--resume", name, "--checkpoint", name, "--steps", "6"});
    CHECK(losses(second).size() == 2);
  }
}

TEST_CASE("checkpoints that do not fit are refused before anything starts") {
  const Folder folder;
  folder.file("s.toml", scenario());
  REQUIRE(run(folder, {"--checkpoint", "a", "--steps", "2"}).status == 0);
  struct Refused {
    Arguments options;
    const char* words;
  };
  const std::vector<Refused> rows{
      {{"--checkpoint", "a"}, "an earlier run has left checkpoints there"},
      {{"--resume", "nowhere"}, "--resume nowhere: there is no complete checkpoint"},
      {{"--resume", "a", "--steps", "2"}, "it has done 2 steps and train.steps is 2; give --steps with more"},
      {{"--resume", "a", "--set", "model.width=64"}, "model.width = 32, and the scenario has 64"},
      {{"--restarts", "1", "--checkpoint-every", "0"}, "--restarts: no checkpoints are requested"},
      {{"--checkpoint", "c", "--checkpoint-every", "0"}, "--checkpoint: no checkpoints are requested"}};
  for (const Refused& row : rows) {
    const Ended ended = run(folder, row.options);
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find(row.words) != std::string::npos);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    CHECK(ended.out.empty());
  }
}

TEST_CASE("the newest complete checkpoint is used, and damaged ones are named with their damage") {
  const Folder folder;
  folder.file("s.toml", scenario());
  const auto straight = losses(run(folder, {"--checkpoint", "a", "--steps", "12"}));
  REQUIRE(run(folder, {"--checkpoint", "b"}).status == 0);  // after 6, 8 and 9 steps
  const auto resume = [&](int first, const std::vector<std::string>& named) {
    const Ended ended = run(folder, {"--resume", "b", "--checkpoint-every", "0", "--steps", "12"});
    INFO(ended.err);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == static_cast<std::ptrdiff_t>(named.size()));
    for (const std::string& words : named) CHECK(ended.err.find(words) != std::string::npos);
    const auto resumed = losses(ended);
    REQUIRE(resumed.size() == static_cast<std::size_t>(12 - first));
    for (const auto& [step, loss] : resumed)
      CHECK(loss == Approx(straight[static_cast<std::size_t>(step)].second).epsilon(1e-6));
  };
  resume(9, {});
  flip_last_byte(checkpoint(folder, "b", 9) / "rank-0.safetensors");
  resume(9 - 1, {"step-00000009/rank-0.safetensors: is damaged: its tensors do not have the crc32"});
  exchange_two_tensors(checkpoint(folder, "b", 8) / "rank-3.safetensors");
  resume(6, {"step-00000009/rank-0.safetensors: is damaged",
             "step-00000008/rank-3.safetensors: is damaged: its header does not have the crc32"});

  const Ended exported = engine(folder, {"export", "b", "hf", "--json"});
  INFO(exported.err);
  CHECK(exported.status == 0);
  CHECK(parse_json(exported.out).at("steps_done") == 6);
  CHECK(exported.err.find("step-00000009/rank-0.safetensors: is damaged") != std::string::npos);

  // One that was written before manifests had checksums can be opened, and the missing verification is reported.
  const std::filesystem::path manifest = checkpoint(folder, "b", 6) / "manifest.json";
  nlohmann::ordered_json older = nlohmann::ordered_json::parse(content_of(manifest));
  REQUIRE(older.erase("files") == 1);
  REQUIRE(older.erase("crc32") == 1);
  write_to(manifest, older.dump(2));
  resume(6, {"step-00000009", "step-00000008", "step-00000006: written before manifests had"});

  std::filesystem::remove(checkpoint(folder, "b", 6) / "rank-2.safetensors");
  const Ended refused = run(folder, {"--resume", "b", "--checkpoint-every", "0", "--steps", "12"});
  INFO(refused.err);
  CHECK(refused.status == 2);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  CHECK(refused.err.find("--resume b: no checkpoint is whole: ") == 0);
  for (const char* name : {"step-00000009", "step-00000008", "step-00000006/rank-2.safetensors"})
    CHECK(refused.err.find(name) != std::string::npos);
}

TEST_CASE("a checkpoint folder may have any name, also one that is not UTF-8") {
  const Folder folder;
  folder.file("s.toml", scenario());
  for (const char* communicator : {"loopback", "mpi"}) {
    if (std::string(communicator) == "mpi" && !can_use_mpi()) continue;
    const std::string name = std::string("ck\xff\xc3\xa4") + communicator;
    const Ended ended = run(folder, {"--checkpoint", name, "--steps", "4", "--comm", communicator});
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    CHECK(losses(ended).size() == 4);
    CHECK(std::filesystem::exists(checkpoint(folder, name, 4) / "manifest.json"));
    CHECK(losses(run(folder, {"--resume", name, "--steps", "6", "--comm", communicator})).size() == 2);
    const Ended exported = engine(folder, {"export", name, name + ".hf", "--json"});
    INFO(exported.err);
    CHECK(exported.status == 0);
    CHECK(parse_json(exported.out).at("steps_done") == 4);
  }
}

TEST_CASE("a damaged manifest is named with its place, and its text is not printed") {
  const Folder folder;
  const std::filesystem::path manifest = manifest_after_two_steps(folder);
  std::string content = content_of(manifest);
  const std::size_t at = content.find("vocabulary");
  REQUIRE(at != std::string::npos);
  content[at] = '\xff';
  write_to(manifest, content);
  const Arguments export_it{"export", "a", "hf"};
  const Ended resumed = run(folder, {"--resume", "a", "--checkpoint-every", "0"});
  for (const Ended& ended :
       {resumed, run(folder, {"--resume", "a/step-00000002", "--checkpoint-every", "0"}), engine(folder, export_it)}) {
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    CHECK(ended.err.find("step-00000002/manifest.json: is damaged: line 5, column ") != std::string::npos);
    CHECK(ended.err.size() < 300);
    CHECK(ended.err.find('\xff') == std::string::npos);
  }
}

TEST_CASE("a manifest in which a digit has changed is refused, although it can be read") {
  const Folder folder;
  const std::filesystem::path manifest = manifest_after_two_steps(folder);
  std::string content = content_of(manifest);
  const std::size_t digit = content.find_first_of("12345678", content.find("vocabulary"));
  REQUIRE(digit != std::string::npos);
  ++content[digit];
  write_to(manifest, content);
  const Ended ended = run(folder, {"--resume", "a/step-00000002", "--checkpoint-every", "0"});
  INFO(ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.err.find("step-00000002/manifest.json: is damaged: it does not have the crc32") != std::string::npos);
}

TEST_CASE("a restart skips a damaged checkpoint and replaces it by a complete one") {
  const Folder folder;
  folder.file("s.toml", scenario());
  const auto straight = losses(run(folder, {"--checkpoint", "a"}));
  REQUIRE(run(folder, {"--checkpoint", "b", "--steps", "6"}).status == 0);
  flip_last_byte(checkpoint(folder, "b", 6) / "rank-1.safetensors");
  const Ended ended = run(folder, {"--checkpoint", "b", "--resume", "b/step-00000004", "--restarts", "1", "--set",
                                   "fault.kill_rank=3", "--set", "fault.kill_step=5"});
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.err.find("passed over a damaged checkpoint: ") != std::string::npos);
  CHECK(ended.err.find("step-00000006/rank-1.safetensors: is damaged") != std::string::npos);
  for (const auto& [step, loss] : losses(ended))
    CHECK(loss == Approx(straight[static_cast<std::size_t>(step)].second).epsilon(1e-6));
  CHECK(run(folder, {"--resume", "b/step-00000006", "--checkpoint-every", "0"}).status == 0);
}

TEST_CASE("a second run in a checkpoint folder or a recording is refused with the holder's name") {
  const Folder folder;
  folder.file("s.toml", scenario());
  const Arguments at_work{program("rankscope-engine"),
                          "run",
                          (folder / "s.toml").string(),
                          "--steps",
                          "100000",
                          "--checkpoint",
                          "c",
                          "--checkpoint-every",
                          "50000",
                          "--record",
                          "t.mcap"};
  Process first(folder, at_work);
  REQUIRE(wait_until(a_minute, [&] {
    std::error_code none;
    return std::filesystem::file_size(folder / "t.mcap", none) > 1000 && !none;
  }));
  const auto recorded = std::filesystem::file_size(folder / "t.mcap");
  for (const Arguments& more : {Arguments{"--checkpoint", "c"}, Arguments{"--checkpoint", "d", "--record", "t.mcap"}}) {
    const Ended refused = run(folder, more);
    INFO(refused.err);
    CHECK(refused.status == 2);
    CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
    CHECK(refused.err.find("process " + std::to_string(first.pid()) + " on ") != std::string::npos);
    CHECK(refused.err.find("(rankscope-engine run ") != std::string::npos);
  }
  CHECK(std::filesystem::file_size(folder / "t.mcap") >= recorded);
  first.signal(SIGKILL);  // a lock ends with its process, in whatever way that ends
  first.wait(a_minute);
  folder.processes_after(a_minute);
  CHECK(run(folder, {"--checkpoint", "c", "--record", "t.mcap"}).status == 0);
}
