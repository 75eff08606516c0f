#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/progress/progress_line.hpp"
#include "engine/op/words.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/event/event_sender.hpp"
#include "telemetry/import/join.hpp"
#include "telemetry/import/kineto.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// The traces among the files of a folder, or the file itself.
std::vector<fs::path> traces_at(const std::string& input) {
  std::error_code error;
  if (!fs::exists(input, error)) throw InputError(input + ": there is no such file or folder");
  if (!fs::is_directory(input, error)) return {input};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(input, error))
    if (entry.is_regular_file(error) && import::looks_like_trace(entry.path())) files.push_back(entry.path());
  if (files.empty())
    throw InputError(input +
                     ": there is no trace in it (.json or .json.gz, as torch.profiler writes them, one of each rank)");
  std::sort(files.begin(), files.end());
  return files;
}

nlohmann::json clock_json(int rank, const import::ClockFit& clock) {
  return {{"rank", rank},
          {"compared", clock.points},
          {"same_host", clock.is_shared},
          {"offset_s", static_cast<double>(clock.offset_ns) * 1e-9},
          {"drift", clock.drift},
          {"uncertainty_s", static_cast<double>(clock.uncertainty_ns) * 1e-9}};
}

}  // namespace

int import_traces(const ImportRequest& request) {
  std::vector<fs::path> files;
  for (const std::string& input : request.inputs)
    for (fs::path& file : traces_at(input)) files.push_back(std::move(file));
  import::ImportedRun run;
  try {
    std::vector<import::RankTrace> traces;
    ProgressLine line("reading");
    const auto show = line.progress();
    for (std::size_t i = 0; i < files.size(); ++i) {
      show(files[i].filename().string(), static_cast<double>(i) / static_cast<double>(files.size()));
      traces.push_back(import::read_kineto(files[i]));
    }
    run = import::join(std::move(traces));
  } catch (const import::ImportError& error) {
    throw InputError(error.what());
  }
  // Of several files their folder's name.
  fs::path named = fs::absolute(request.inputs[0]).lexically_normal();
  if (!named.has_filename() || (files.size() > 1 && !fs::is_directory(named))) named = named.parent_path();
  run.hello.title = named.filename().string();
  TraceWriter writer(request.output);
  EventSender sender(writer, new_session_id());
  import::publish(run, [&](int rank, Event event) { sender.add(rank, std::move(event));
});
  if (!writer.close()) throw TraceError(request.output + ": " + writer.error());
  if (request.json) {
    nlohmann::json clocks = nlohmann::json::array();
    for (std::size_t rank = 0; rank < run.clocks.size(); ++rank)
      clocks.push_back(clock_json(static_cast<int>(rank), run.clocks[rank]));
    print_json({{"output", request.output},
                {"ranks", run.hello.ranks},
                {"traces", files.size()},
                {"steps", run.hello.steps},
                {"spans", run.spans.size()},
                {"clocks", std::move(clocks)},
                {"remarks", run.remarks}});
    return 0;
  }
  for (const std::string& remark : run.remarks) std::cerr << remark << "\n";
  double worst = 0;
  for (const import::ClockFit& clock : run.clocks)
    worst = std::max(worst, static_cast<double>(clock.uncertainty_ns) * 1e-9);
  std::cout << fmt::format("{}: {} of {}, {}; collectives end within {} of each other\n", request.output,
                           counted(files.size(), "trace"), counted(run.hello.ranks, "rank"),
                           counted(run.spans.size(), "span"), figure::duration(worst));
  return 0;
}

}  // namespace rankscope
