#include "telemetry/import/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "telemetry/import/groups.hpp"
#include "telemetry/import/kineto.hpp"

namespace rankscope::import {

namespace fs = std::filesystem;

namespace {

/// Names such as trace_0.json … trace_3.json: a number at the end is a rank, if all files have one and they are 0 …
/// n-1.
void number_unnumbered(std::vector<RankTrace>& traces) {
  if (traces.size() < 2 || std::ranges::any_of(traces, [](const RankTrace& trace) { return trace.rank >= 0; })) return;
  std::vector<int> numbers;
  for (const RankTrace& trace : traces) numbers.push_back(number_at_end(trace.file));
  std::vector<int> sorted = numbers;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int>(i)) return;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    traces[i].rank = numbers[i];
    traces[i].remarks.push_back("the rank is from the number at the end of the file's name");
  }
}

}  // namespace

bool may_be_traces(const fs::path& input) {
  std::error_code error;
  return fs::is_directory(input, error) || looks_like_trace(input);
}

std::vector<fs::path> traces_at(const fs::path& input) {
  std::error_code error;
  if (!fs::exists(input, error)) throw ImportError(input.string() + ": there is no such file or folder");
  if (!fs::is_directory(input, error)) return {input};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(input, error))
    if (entry.is_regular_file(error) && looks_like_trace(entry.path())) files.push_back(entry.path());
  if (files.empty())
    throw ImportError(input.string() +
                      ": there is no trace in this folder (.json or .json.gz, as torch.profiler writes them, one of each rank)");
  std::sort(files.begin(), files.end());
  return files;
}

ImportedRun import_run(const std::vector<fs::path>& files, const Progress& progress) {
  std::vector<RankTrace> traces;
  std::vector<std::string> others;  // a folder may have configurations, too
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (progress)
      progress("reading " + files[i].filename().string(), static_cast<double>(i) / static_cast<double>(files.size()));
    try {
      traces.push_back(read_kineto(files[i]));
    } catch (const NotATrace&) {
      if (files.size() == 1 || (i + 1 == files.size() && traces.empty())) throw;
      others.push_back(files[i].filename().string());
    }
  }
  number_unnumbered(traces);
  find_unnamed_groups(traces);
  ImportedRun run = join(std::move(traces));
  if (!others.empty())
    run.remarks.push_back(fmt::format("not traces of torch.profiler, and left out: {}", fmt::join(others, ", ")));
  fs::path named = fs::absolute(files.front()).lexically_normal();
  if (files.size() > 1) named = named.parent_path();
  run.hello.title = named.filename().string();
  return run;
}

}  // namespace rankscope::import
