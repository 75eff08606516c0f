// A trace of JSON documents, each under its topic, for data recorded a few times an hour and read completely: each
// document is on the disk, in its own chunk, when write() returns. A regular MCAP file.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {

class JsonTraceWriter {
 public:
  /// Creates the file; replaces an older one. Throws TraceError.
  explicit JsonTraceWriter(std::string path);
  /// Closes it.
  ~JsonTraceWriter();
  JsonTraceWriter(const JsonTraceWriter&) = delete;
  JsonTraceWriter& operator=(const JsonTraceWriter&) = delete;

  /// `document` is a JSON object, `time_ns` is since the file's beginning. False if the disk cannot accept it: error()
  /// has the reason, and this document is not in the file.
  bool write(std::string_view topic, std::int64_t time_ns, std::string_view document);
  /// Writes the file's index and end. False if anything is missing in the file.
  bool close();
  const std::string& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct JsonDocument {
  std::string topic;
  std::int64_t time_ns = 0;
  std::string text;
};

/// The documents of a trace from any writer, in the file's order; other messages are skipped. Damaged parts are skipped
/// and reported. Throws TraceError if the file can't be opened or is not an MCAP file.
std::vector<JsonDocument> read_json_trace(const std::string& path, DamageReport* damage = nullptr);
/// True if the file is an MCAP file with this topic. Never throws TraceError.
bool has_topic(const std::string& path, std::string_view topic);

}  // namespace rankscope
