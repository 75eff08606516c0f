#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/base/host/write_watch.hpp"
#include "engine/lesson/lab/lab.hpp"
#include "engine/plan/program/program.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/cli/explained.hpp"
#include "telemetry/export/export.hpp"
#include "telemetry/page/page.hpp"
#include "telemetry/trace/output_file.hpp"

namespace rankscope {
namespace {

std::uint32_t step_of(std::string_view text) {
  std::uint32_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError("--steps: '" + std::string(text) + "' is no step; as in --steps 10:20");
  return step;
}

std::int64_t seconds_as_ns(const std::string& text, const char* option) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(seconds) || std::abs(seconds) > 4e9)
    throw InputError(std::string(option) + ": '" + text + "' is no time in seconds; as in " + option + " 1.5");
  return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

CutLimits limits_of(const CutRequest& request) {
  CutLimits limits;
  if (!request.steps.empty()) {
    const auto colon = request.steps.find(':');
    const std::string first = request.steps.substr(0, colon);
    const std::string last = colon == std::string::npos ? first : request.steps.substr(colon + 1);
    if (!first.empty()) limits.first_step = step_of(first);
    if (!last.empty()) limits.last_step = step_of(last);
    if (limits.first_step && limits.last_step && *limits.first_step > *limits.last_step)
      throw InputError("--steps " + request.steps + ": the first step is after the last");
  }
  if (!request.from.empty()) limits.from_ns = seconds_as_ns(request.from, "--from");
  if (!request.to.empty()) limits.to_ns = seconds_as_ns(request.to, "--to");
  if (limits.from_ns && limits.to_ns && *limits.from_ns >= *limits.to_ns)
    throw InputError("--from " + request.from + " --to " + request.to + ": nothing is between them");
  if (request.steps.empty() && request.from.empty() && request.to.empty())
    throw InputError("cut needs --steps FIRST:LAST, or --from and --to in seconds");
  return limits;
}

/// A cut without a span would be a recording of nothing.
void refuse_nothing(const CutRequest& request, const StepsSeen& seen) {
  if (seen.any_within || !seen.first) return;
  const std::string by = request.steps.empty() ? "" : "--steps " + request.steps;
  const std::string time =
      (request.from.empty() ? "" : " --from " + request.from) + (request.to.empty() ? "" : " --to " + request.to);
  throw InputError(fmt::format("{}: it has nothing within {}; its steps are {} to {}{}", request.trace,
                               by.empty() ? time.substr(1) : by + time, *seen.first, *seen.last,
                               time.empty() ? "" : ", and rankscope-trace info shows its times"));
}

/// The origin of the spans: as requested, or else as the run's headline.
Obtained one_obtained(const StoreView& run, const ExportOptions& options) {
  if (options.obtained) return *options.obtained;
  const auto has = [&](Obtained obtained) {
    const auto lanes = run.lanes();
    return std::any_of(lanes.begin(), lanes.end(), [&](const LaneKey& lane) { return lane.obtained == obtained; });
  };
  const bool device = run.hello() != nullptr && run.hello()->headline == ClockDomain::device;
  for (const Obtained obtained : {device ? Obtained::emulated : Obtained::measured, Obtained::measured})
    if (has(obtained)) return obtained;
  return Obtained::simulated;
}

void check_written(const std::string& file, WriteWatch& watch) {
  if (const std::string why = watch.failure(); !why.empty())
    throw std::runtime_error(file + ": cannot be written: " + why);
}

/// A file for each rank.
void export_folder(const StoreView& run, const std::string& folder, ExportOptions options, const std::string& trace) {
  options.obtained = one_obtained(run, options);
  std::set<int> ranks;
  for (const LaneKey& lane : run.lanes())
    if (lane.obtained == *options.obtained) ranks.insert(lane.rank);
  if (ranks.empty()) throw InputError(trace + ": holds no spans that were " + std::string(name_of(*options.obtained)));
  std::error_code failed_to_make;
  std::filesystem::create_directories(folder, failed_to_make);
  if (failed_to_make) throw InputError(folder + ": cannot be created: " + failed_to_make.message());
  for (const int rank : ranks) {
    const std::string name = fmt::format("{}/rank-{}.json", folder, rank);
    OutputFile output(name, {trace});
    std::ofstream file(output.path(), std::ios::binary | std::ios::trunc);
    WriteWatch watch(file);
    export_profiler(run, rank, file, options);
    check_written(name, watch);
    output.commit();
  }
}

/// Payloads of the ops of each rank: the message, the tensor, or the sum of all parts. A rank whose program is missing
/// or damaged has none.
std::map<int, std::unordered_map<OpId, std::int64_t>> payloads_of(const StoreView& run) {
  std::map<int, std::unordered_map<OpId, std::int64_t>> of_rank;
  const int ranks = run.hello() != nullptr ? run.hello()->ranks : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const ProgramRecord* record = run.program(rank);
    if (record == nullptr) continue;
    try {
      const RankProgram program = parse_program(record->text);
      for (const Op& op : program.ops)
        if (is_communication(op.id.kind()) || op.id.kind() == OpKind::copy)
          of_rank[rank][op.id] = program.payload_bytes(op);
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  return of_rank;
}

/// The text of the lesson whose scenario was recorded: the title is in the recording.
std::string lesson_of(const StoreView& run) {
  for (const Lab& lab : all_labs())
    if (lab.title == run.hello()->title) return lab.text;
  return "";
}

std::string page_for(const StoreView& run, const ExportRequest& request, const ExportOptions& options) {
  check_explained(run, request.trace);
  if (is_imported(run))
    throw InputError(request.trace +
                     ": it is another program's run, and a page shows a plan; chrome, csv and hta work");
  PageOptions page;
  page.file = std::filesystem::path(request.trace).filename().string();
  page.lesson = lesson_of(run);
  page.obtained = options.obtained;
  page.bytes = options.bytes;
  return explained(request.trace, [&] { return page_of(run, page); });
}

}  // namespace

int export_trace(const ExportRequest& request) {
  ExportOptions options;
  options.obtained = obtained_named(request.obtained);
  const bool to_folder = request.format == ExportFormat::hta;
  if (to_folder && (request.output.empty() || request.output == "-"))
    throw InputError("export --format hta: writes one file per rank; give their folder with -o FOLDER");
  // Before anything is read, so that a rejection is immediate.
  std::optional<OutputFile> output;
  if (!to_folder && !request.output.empty() && request.output != "-")
    output.emplace(request.output, std::vector{request.trace});
  RunStore store;
  DamageReport damage;
  read_shown(request.trace, store, damage);
  print_damage(request.trace, damage);
  const auto view = store.view();
  options.bytes = [payloads = payloads_of(*view)](int rank, OpId op) -> std::optional<std::int64_t> {
    const auto of_rank = payloads.find(rank);
    if (of_rank == payloads.end()) return std::nullopt;
    const auto found = of_rank->second.find(op);
    return found == of_rank->second.end() ? std::nullopt : std::optional(found->second);
  };
  if (to_folder) {
    export_folder(*view, request.output, options, request.trace);
    return 0;
  }
  std::ofstream file;
  std::optional<WriteWatch> watch;
  if (output) {
    file.open(output->path(), std::ios::binary | std::ios::trunc);
    if (!file) throw InputError(request.output + ": cannot be written: " + std::strerror(errno));
    watch.emplace(file);
  }
  std::ostream& out = output ? file : std::cout;
  switch (request.format) {
    case ExportFormat::html: out << page_for(*view, request, options); break;
    case ExportFormat::csv: export_csv(*view, out, options); break;
    case ExportFormat::chrome: export_chrome(*view, out, options); break;
    case ExportFormat::hta: break;  // written above
  }
  if (!output) return 0;  // main checks standard output
  check_written(request.output, *watch);
  output->commit();
  return 0;
}

int cut(const CutRequest& request) {
  const CutLimits limits = limits_of(request);
  OutputFile output(request.output, {request.trace});
  DamageReport damage;
  TraceWriter writer(output.path());
  const bool by_time = limits.from_ns || limits.to_ns;
  CutSink sink(writer, limits, by_time ? clock_offsets(request.trace) : ClockOffsets{});
  read_shown(request.trace, sink, damage);
  for (TraceMark& mark : read_trace_info(request.trace).marks)
    if (sink.includes(mark)) writer.mark(std::move(mark));
  print_damage(request.trace, damage);
  refuse_nothing(request, sink.steps());
  if (!writer.close()) throw std::runtime_error(writer.error());
  output.commit();
  return 0;
}

}  // namespace rankscope
