#include "telemetry/import/import.hpp"

#include <algorithm>

#include "telemetry/import/kineto.hpp"

namespace rankscope::import {

namespace fs = std::filesystem;

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
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (progress)
      progress("reading " + files[i].filename().string(), static_cast<double>(i) / static_cast<double>(files.size()));
    traces.push_back(read_kineto(files[i]));
  }
  ImportedRun run = join(std::move(traces));
  fs::path named = fs::absolute(files.front()).lexically_normal();
  if (files.size() > 1) named = named.parent_path();
  run.hello.title = named.filename().string();
  return run;
}

}  // namespace rankscope::import
