// The commands of rankscope-trace. Each returns the exit status; main prints its exceptions as one line.
#pragma once
#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/progress/progress_line.hpp"
#include "engine/plan/scenario/choice.hpp"
#include "telemetry/cli/cut.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {

inline constexpr int bad_input = 2, failed = 1;

/// Invalid user input: what() is one line with the error and the correction. Exit status 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Set by SIGINT and SIGTERM.
extern std::atomic<bool> stop_asked;

enum class ExportFormat : std::uint8_t { chrome, csv, hta, html };
template <>
inline constexpr auto word_table<ExportFormat> = word_list("chrome", "csv", "hta", "html");

struct ExportRequest {
  std::string trace, output, obtained;
  Choice<ExportFormat> format = ExportFormat::chrome;
};
struct ImportRequest {
  std::vector<std::string> inputs;  ///< files, and folders of files
  std::string output;
  bool json = false;
};
struct CutRequest {
  std::string trace, output, steps, from, to;
};
struct ServeRequest {
  std::string trace;  ///< replay only
  std::string publish, worker_join_file, spool, record, speed = "1";
  std::vector<std::string> join_files;
  int wait = 0;
  bool stay = false;
};

int show_info(const std::string& trace, bool json);
int show_stats(const std::string& trace, bool json);
int export_trace(const ExportRequest& request);
/// Other programs' traces of one run, as a recording.
int import_traces(const ImportRequest& request);
int recover(const std::string& trace, const std::string& output, bool json);
int cut(const CutRequest& request);
int replay_trace(const ServeRequest& request);
int run_relay(const ServeRequest& request);
/// `name_or_key` empty: the join file's own key.
int revoke(const std::string& join_file, const std::string& name_or_key);

/// Options that show the reading progress on `line`.
ReadTraceOptions shown_on(ProgressLine& line, const std::string& trace);
/// read_trace, with its progress on standard error.
void read_shown(const std::string& trace, EventSink& sink, DamageReport& damage);
/// Prints one object on standard output; bytes that are not UTF-8 are replaced.
void print_json(const nlohmann::json& json);
/// Prints the damage on standard error.
void print_damage(const std::string& trace, const DamageReport& damage);

}  // namespace rankscope
