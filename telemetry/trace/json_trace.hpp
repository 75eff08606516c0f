// A trace of JSON documents under topics of their own, for what is recorded a few times an hour and read whole: every
// document is on the disk, in a chunk of its own, when write() returns. An MCAP file like any other.
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
  /// Creates the file, in place of an older one. Throws TraceError.
  explicit JsonTraceWriter(std::string path);
  /// Closes it.
  ~JsonTraceWriter();
  JsonTraceWriter(const JsonTraceWriter&) = delete;
  JsonTraceWriter& operator=(const JsonTraceWriter&) = delete;

  /// `document` is an object in JSON, `time_ns` is since the file's beginning. False when the disk cannot: error() says
  /// why, and this one is not in the file.
  bool write(std::string_view topic, std::int64_t time_ns, std::string_view document);
  /// Writes the file's index and end. False when something is missing in the file.
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

/// The documents of a trace, of whichever writer, in the file's order; other messages are skipped. Damaged parts are
/// skipped and reported. Throws TraceError when the file can't be opened or is no MCAP file.
std::vector<JsonDocument> read_json_trace(const std::string& path, DamageReport* damage = nullptr);
/// True when the file is an MCAP file that has this topic. Never throws TraceError.
bool has_topic(const std::string& path, std::string_view topic);

}  // namespace rankscope
