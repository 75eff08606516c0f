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
#include "telemetry/import/import.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope {
namespace {

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
  std::vector<std::filesystem::path> files;
  import::ImportedRun run;
  try {
    for (const std::string& input : request.inputs)
      for (auto& file : import::traces_at(input)) files.push_back(std::move(file));
    ProgressLine line("reading");
    run = import::import_run(files, line.progress());
  } catch (const import::ImportError& error) {
    throw InputError(error.what());
  }
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
