#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/progress/progress_line.hpp"
#include "engine/op/words.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/event/event_sender.hpp"
#include "telemetry/import/import.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope {
namespace {

/// `is_reference`: the others are compared with it. Nothing is known of a clock that was not compared.
nlohmann::json clock_json(int rank, const import::ClockFit& clock, bool is_reference) {
  const bool is_known = is_reference || clock.points > 0;
  return {{"rank", rank},
          {"compared", clock.points},
          {"same_host", clock.is_shared},
          {"offset_s", static_cast<double>(clock.offset_ns) * 1e-9},
          {"drift", clock.drift},
          {"uncertainty_s",
           is_known ? nlohmann::json(static_cast<double>(clock.uncertainty_ns) * 1e-9) : nlohmann::json(nullptr)}};
}

}  // namespace

int import_traces(const ImportRequest& request) {
  std::vector<std::filesystem::path> files;
  import::ImportedRun run;
  std::error_code compared;
  try {
    for (const std::string& input : request.inputs)
      for (auto& file : import::traces_at(input)) files.push_back(std::move(file));
    for (const auto& file : files)
      if (std::filesystem::equivalent(file, request.output, compared))
        throw InputError(request.output + ": it is one of the traces; give another name after -o");
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
  std::set<std::uint32_t> steps;
  for (const StepSummary& summary : run.summaries) steps.insert(summary.step);
  if (request.json) {
    nlohmann::json clocks = nlohmann::json::array();
    for (std::size_t rank = 0; rank < run.clocks.size(); ++rank)
      if (!run.facts[rank].names.empty())
        clocks.push_back(clock_json(static_cast<int>(rank), run.clocks[rank], clocks.empty()));
    print_json({{"output", request.output},
                {"ranks", run.hello.ranks},
                {"traces", files.size()},
                {"steps", steps.size()},
                {"spans", run.spans.size()},
                {"clocks", std::move(clocks)},
                {"remarks", run.remarks}});
    return 0;
  }
  for (const std::string& remark : run.remarks) std::cerr << remark << "\n";
  std::int64_t worst_ns = -1;
  for (const import::ClockFit& clock : run.clocks)
    if (clock.points > 0) worst_ns = std::max(worst_ns, clock.uncertainty_ns);
  std::cout << fmt::format(
      "{}: {} of {}, {}, {}{}\n", request.output, counted(files.size(), "trace"), counted(run.hello.ranks, "rank"),
      counted(steps.size(), "step"), counted(run.spans.size(), "span"),
      worst_ns < 0
          ? ""
          : "; collectives end within " + figure::duration(static_cast<double>(worst_ns) * 1e-9) + " of each other");
  return 0;
}

}  // namespace rankscope
